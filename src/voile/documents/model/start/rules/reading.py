"""Represent texts for rules: one letter for each token, including line breaks.

A rule is a regular expression over these letters. A text has about six times fewer letters than
characters, and each form is processed only once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.start.rules.rule import LetterRule
from voile.documents.words.tokens import GLUED, LINE, PARAGRAPH, TextTokens, TokenNumbers

BREAK, END = "\n", "\x1e"
"""The sign for the end of a line, and the sign around each text; an empty line is two breaks."""
JOINED = {"-": "h", "'": "q", ".": "o", ",": "k", "@": "e"}
"""The letters of signs between two tokens without blanks."""

Ints = NDArray[np.intp]


class RuleAlphabet:
    """A mapping of forms to letters, computed once for each form, with the rules that use it."""

    def __init__(self, letter: Callable[[str], str], rules: Sequence[LetterRule]) -> None:
        self.rules = tuple(rules)
        self._letter = letter
        self._known, self._letters = TokenNumbers(), np.zeros(0, np.uint8)

    def letters(self, known: TokenNumbers) -> NDArray[np.uint8]:
        """Return the letters of all forms, in the order of their numbers. Cost: O(new forms)."""
        if known is not self._known:
            self._known, self._letters = known, np.zeros(0, np.uint8)
        new = "".join(map(self._letter, known.since(len(self._letters)))).encode("latin-1")
        if new:
            self._letters = np.concatenate([self._letters, np.frombuffer(new, np.uint8)])
        return self._letters


@dataclass(frozen=True, eq=False)
class TokenText:
    """The n tokens of d texts in the letters of one alphabet."""

    tokens: TextTokens
    alphabet: RuleAlphabet

    @cached_property
    def text(self) -> str:
        """The letters of all texts."""
        return self._line[0]

    @cached_property
    def place(self) -> Ints:
        """The token of each letter; a break or an end has the next token, and n at the end."""
        return self._line[1]

    def find(self, rule: LetterRule) -> Iterator[tuple[int, int]]:
        """Yield the first token of each find of a rule, and the token after its last one."""
        place = self.place
        areas = rule.within.finditer(self.text) if rule.within else ()
        spans = [area.span() for area in areas] if rule.within else [(0, len(self.text))]
        for area in spans:
            for match in rule.expression.finditer(self.text, *area):
                start, end = match.span("found")
                yield int(place[start]), int(place[end - 1]) + 1

    @cached_property
    def _line(self) -> tuple[str, Ints]:
        tokens, n = self.tokens, len(self.tokens)
        own = self.alphabet.letters(tokens.known)[tokens.form]
        before = tokens.gap == GLUED
        inside = before.copy()
        inside[:-1] &= before[1:]
        inside[-1:] = False
        for plain, joined in JOINED.items():
            own = np.where(inside & (own == ord(plain)), np.uint8(ord(joined)), own)
        breaks = (tokens.gap >= LINE).astype(np.int8) + (tokens.gap == PARAGRAPH)
        first = tokens.first[:-1][np.diff(tokens.first) > 0]
        where = np.repeat(np.arange(n), breaks)
        what = np.full(len(where), ord(BREAK), np.uint8)
        what[np.searchsorted(where, first)] = ord(END)
        line = np.append(np.insert(own, where, what), np.uint8(ord(END)))
        place = np.append(np.insert(np.arange(n), where, where), n)
        return line.tobytes().decode("latin-1"), place.astype(np.intp)
