"""Keyed choices for the values of one document's subject."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voile.documents.replacements.names import fold, name_words, undisguise
from voile.keys.pseudonyms import Secret, choose, pseudonym

# A list of which half is taken is given up with a chance of 2^-24.
_ATTEMPTS = 24


@dataclass(frozen=True)
class Draws:
    """Draws surrogates for one subject; what a document removes is never drawn for it."""

    # secret, subject: as in `voile.keys.pseudonyms`
    secret: Secret
    subject: str
    # everything that the document removes: the folded words, and the values as `fold_value`
    taken: frozenset[str]

    def name(self, candidates: Sequence[str], value: str) -> str | None:
        """Choose a name for a folded word: no word of it is taken, and its initial is another."""
        return self._one_of(
            candidates,
            value,
            lambda drawn: (
                initial_of(drawn) != value[:1] and self.taken.isdisjoint(name_words(drawn))
            ),
        )

    def entry(self, candidates: Sequence[str], value: str) -> str | None:
        """Choose an entry of a list for a `fold_value` value: none that is taken as it stands."""
        return self._one_of(candidates, value, lambda drawn: fold_value(drawn) not in self.taken)

    def _one_of(
        self, candidates: Sequence[str], value: str, will_do: Callable[[str], bool]
    ) -> str | None:
        """Draw until a candidate will do, or give up; only removed words make draws of a subject
        differ.
        """
        for attempt in range(_ATTEMPTS):
            asked = f"{value} {attempt}" if attempt else value
            drawn = choose(self.secret, self.subject, asked, candidates)
            if will_do(drawn):
                return drawn
        return None

    def number(self, use: str, value: str, size: int) -> int:
        """Return `size` keyed bytes for a value as a number; each use has its own."""
        seed = pseudonym(self.secret, self.subject, purpose=f"{use} {value}", length=51)
        return int.from_bytes(hashlib.shake_256(seed.encode()).digest(size), "big")

    def code(self, use: str, value: str) -> str:
        """Return 12 small letters and digits for a value."""
        return pseudonym(self.secret, self.subject, purpose=f"{use} {value}", length=12).lower()


def initial_of(name: str) -> str:
    """Return the folded first letter of a name, past its particles."""
    words = name_words(name)
    return words[0][0] if words else ""


def fold_value(value: str) -> str:
    """Return all of a value, folded, its blanks made one."""
    return " ".join(fold(undisguise(value)).split())
