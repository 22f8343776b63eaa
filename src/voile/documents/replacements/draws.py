"""Keyed choices for the values of one document's subject."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from voile.documents.replacements.names import fold, name_words, undisguise
from voile.keys.pseudonyms import Secret, choose, pseudonym

# If 90% of a list is unsuitable, all attempts fail with a probability of .9^48, or .6%.
_ATTEMPTS = 48


@dataclass(frozen=True)
class SurrogateDraws:
    """Draws of surrogates for one subject, which never return a value that the document removes.

    No surrogate is drawn for two values, so that two people stay distinct. The first value keeps
    its surrogate. So pass values in an order that does not depend on the text.
    """

    # secret, subject: as in `voile.keys.pseudonyms`
    secret: Secret
    subject: str
    # everything that the document removes: the folded words, and the values folded by `fold_value`
    taken: frozenset[str]
    _drawn: set[str] = field(default_factory=set)  # words and values, as in `taken`

    def name(self, candidates: Sequence[str], value: str) -> str | None:
        """Choose a name for a folded word: it has no taken word, and a different initial."""

        def will_do(drawn: str) -> bool:
            words = name_words(drawn)
            return initial_of(drawn) != value[:1] and self._are_free(words)

        drawn = self._one_of(candidates, value, will_do)
        self._drawn.update(name_words(drawn or ""))
        return drawn

    def entry(
        self, candidates: Sequence[str], value: str, fits: Callable[[str], bool]
    ) -> str | None:
        """Choose an entry of a list for a value folded by `fold_value`.

        The entry is not taken, and it fits if any such entry does.
        """

        def is_free(drawn: str) -> bool:
            return self._are_free([fold_value(drawn)])

        drawn = self._one_of(
            candidates, value, lambda one: fits(one) and is_free(one)
        ) or self._one_of(candidates, value, is_free)
        self._drawn.update([fold_value(drawn)] if drawn else [])
        return drawn

    def any(self, candidates: Sequence[str], value: str) -> str:
        """Choose a candidate even if it was drawn before, since there are few function words."""
        return choose(self.secret, self.subject, value, candidates)

    def _are_free(self, words: Sequence[str]) -> bool:
        return self.taken.isdisjoint(words) and self._drawn.isdisjoint(words)

    def _one_of(
        self, candidates: Sequence[str], value: str, will_do: Callable[[str], bool]
    ) -> str | None:
        """Draw until a candidate is suitable, or give up.

        Draws for a subject differ between documents only because of the removed words.
        """
        for attempt in range(_ATTEMPTS if candidates else 0):
            asked = f"{value} {attempt}" if attempt else value
            drawn = choose(self.secret, self.subject, asked, candidates)
            if will_do(drawn):
                return drawn
        return None

    def number(self, use: str, value: str, size: int) -> int:
        """Return `size` keyed bytes for a value as an integer; each use has its own."""
        seed = pseudonym(self.secret, self.subject, purpose=f"{use} {value}", length=51)
        return int.from_bytes(hashlib.shake_256(seed.encode()).digest(size), "big")

    def code(self, use: str, value: str) -> str:
        """Return 12 lower-case letters and digits for a value."""
        return pseudonym(self.secret, self.subject, purpose=f"{use} {value}", length=12).lower()


def initial_of(name: str) -> str:
    """Return the folded first letter of a name, after any particles."""
    words = name_words(name)
    return words[0][0] if words else ""


def fold_value(value: str) -> str:
    """Return a folded value with single blanks."""
    return " ".join(fold(undisguise(value)).split())
