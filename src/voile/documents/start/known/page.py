"""The tokens of all notes as the matching of words looks at them, one after the other."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from voile.documents.replacements.names import LANGUAGES, fold
from voile.documents.start.known.guard import Guard
from voile.documents.start.known.vocabulary import (
    CAPITAL,
    CAPITALS,
    NO_WORD,
    Look,
    written,
)
from voile.documents.start.rules.vocabulary import vocabulary
from voile.documents.words.tokens import LINE, Tokens

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
class Page:
    """What stands where, by the number of a token; lists, since single places are looked at."""

    tokens: Tokens
    look: Look
    guard: Guard
    texts_with: dict[int, int]  # of forms with a typo: in how many texts they are
    form: list[int] = field(init=False)
    gap: list[int] = field(init=False)
    forms: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        self.form, self.gap = self.tokens.form.tolist(), self.tokens.gap.tolist()
        self.forms = self.tokens.forms

    def word(self, at: int) -> str:
        """Return the token as it is written; nothing outside of all texts."""
        return self.forms[self.form[at]] if 0 <= at < len(self.form) else ""

    def fold(self, at: int) -> str:
        return self.look.folds[self.form[at]]

    def written(self, at: int) -> int:
        return written(self.word(at)) if 0 <= at < len(self.form) else NO_WORD

    def is_capital(self, at: int) -> bool:
        return self.written(at) >= CAPITAL

    def is_initial(self, at: int) -> bool:
        return len(self.word(at)) == 1 and self.is_capital(at)

    def is_shouted(self, at: int) -> bool:
        """Return whether a token in capitals has another one beside it."""
        if self.written(at) != CAPITALS:
            return False
        beside = [one for one, edge in ((at - 1, at), (at + 1, at + 1)) if self.near(edge)]
        return any(self.written(one) == CAPITALS for one in beside)

    def near(self, at: int, gap: int = LINE) -> bool:
        """Return whether less than a gap separates a token from the one before it."""
        return 0 < at < len(self.gap) and self.gap[at] < gap

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

    def is_sure(self, at: int, typo: bool) -> bool:
        """Return whether a word by itself is a known value and nothing else."""
        word = self.fold(at)
        if len(word) < SHORTEST_SURE:
            return False
        if typo:
            few = self.texts_with.get(self.form[at], 0) <= FEW_TEXTS
            return few and self.is_capital(at) and not self.guard.is_other(word)
        return not self.guard.is_ordinary(word)

    def is_possible(self, at: int) -> bool:
        """Return whether a word that may be another is written as a name is."""
        return self.is_capital(at) and not self.is_shouted(at) and len(self.word(at)) > 1


_SIGNS = 4  # between two words of a value
SHORTEST_SURE = 3
FEW_TEXTS = 2
"""Texts with the same typo; what is in more is a word or a name of its own."""
