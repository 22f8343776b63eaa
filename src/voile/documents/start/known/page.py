"""The tokens of all notes as the matching of words looks at them, one after the other."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from voile.documents.replacements.names import LANGUAGES, fold
from voile.documents.start.known.guard import Guard
from voile.documents.start.known.vocabulary import (
    CAPITAL,
    CAPITALS,
    FormWords,
    written,
)
from voile.documents.start.rules.vocabulary import vocabulary
from voile.documents.words.tokens import BLANK, LINE, PARAGRAPH, Tokens

TITLES = frozenset(fold(one) for language in LANGUAGES for one in vocabulary(language).titles)
"""Folded words before a name."""


class Match(NamedTuple):
    """Tokens that are a known value."""

    first: int
    last: int
    label: str
    columns: tuple[str, ...]
    sure: bool


@dataclass
class TokenPlaces:
    """What stands where, by the number of a token; lists, since single places are looked at.

    Behind the last token, and so before the first at -1, is one without letters that nothing is
    near to.
    """

    tokens: Tokens
    look: FormWords
    guard: Guard
    form: list[int] = field(init=False)
    gap: list[int] = field(init=False)
    forms: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.form = [*self.tokens.form.tolist(), len(self.tokens.forms)]
        self.gap = [*self.tokens.gap.tolist(), PARAGRAPH]
        self.forms = [*self.tokens.forms, ""]

    def word(self, at: int) -> str:
        """Return the token as it is written; nothing outside of all texts."""
        return self.forms[self.form[at]]

    def fold(self, at: int) -> str:
        return self.look.folds[self.form[at]]

    def written(self, at: int) -> int:
        return written(self.forms[self.form[at]])

    def is_capital(self, at: int) -> bool:
        return self.written(at) >= CAPITAL

    def is_initial(self, at: int) -> bool:
        return len(self.word(at)) == 1 and self.is_capital(at)

    def near(self, at: int, gap: int = LINE) -> bool:
        """Return whether less than a gap separates a token from the one before it."""
        return self.gap[at] < gap

    def is_titled(self, at: int) -> bool:
        """Return whether a title stands before a token."""
        before = at - 1
        if self.near(at) and self.word(before) == "." and self.near(before):
            before -= 1
        return self.near(at) and before >= 0 and self.fold(before) in TITLES

    def beyond(self, at: int, step: int, gap: int, fillers: Container[str]) -> Iterator[int]:
        """Yield the tokens from `at` on that may be the next word: signs and fillers go before."""
        for _ in range(_SIGNS):
            if not self.near(at if step > 0 else at + 1, gap):
                return
            yield at
            if self.word(at).isalnum() and self.fold(at) not in fillers:
                return
            at += step

    def judge(self, at: int, typo: bool, own: bool) -> bool | None:
        """Return whether a word by itself is a known value for sure; None where it is none.

        `own` says that it is a value of the note's subject: one word of people known to all notes
        may as well be somebody else's, or an eponym.
        """
        word, written = self.fold(at), self.written(at)
        if self.guard.is_ordinary(word):
            inside = written == CAPITAL and self.word(at + 1) != ":"
            return False if inside and not typo and (own or not self._begins(at)) else None
        if typo:
            if written != CAPITAL or word in self.guard.common:
                return None
            return own
        if not own and self._is_in_address(at):
            return None
        if len(word) < SHORTEST_SURE:
            return False if written == CAPITAL and len(word) > 1 else None
        return own and (written != CAPITALS or len(word) > ACRONYM or self._is_shouted(at))

    def _is_in_address(self, at: int) -> bool:
        """Return whether an @ or a full stop joins a token to another, as in ann.lee@mail.org."""
        before = self.near(at, BLANK) and self.word(at - 1) in ("@", ".")
        after = self.near(at + 1, BLANK) and self.word(at + 1) in ("@", ".")
        return before or (after and self.near(at + 2, BLANK))

    def _begins(self, at: int) -> bool:
        """Return whether a token begins a line or a sentence, so that its capital says nothing."""
        return not self.near(at) or self.word(at - 1) in (".", "!", "?", ":")

    def _is_shouted(self, at: int) -> bool:
        """Return whether a token beside is in capitals too."""
        beside = [one for one, edge in ((at - 1, at), (at + 1, at + 1)) if self.near(edge)]
        return any(self.written(one) == CAPITALS for one in beside)


_SIGNS = 4  # between two words of a value
SHORTEST_SURE = 3
ACRONYM = 4
"""Letters of a word in capitals that may be an acronym: ANA, MAR."""
