"""Digits and letters of tokens, as numbers that can be joined: what codes and days are made of."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.documents.replacements.dates import MONTHS
from voile.documents.start.known.owned import Longs, runs
from voile.documents.words.tokens import LINE, NOWHERE, Tokens

BASE = 0x9E3779B97F4A7C15
"""Odd: a joined code is a polynomial of its characters in it, modulo 2^64."""
_PIECE = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|ro|o)(?![^\W_])|\d+|[^\W\d_]+")
_LETTERS = re.compile(r"[A-Z]{1,6}")
_DIGIT = re.compile(r"\d")
_LONGEST_MONTH = 10  # letters
_CODE_SIGNS = frozenset("-./()+#")
_DATE_SIGNS = frozenset(["-", "/", ".", ",", "'", "de", "del", "of", "the", "año", "DE", "DEL"])
_BETWEEN = 3  # tokens between two parts
_LONGEST_YEAR = 4


class Piece(NamedTuple):
    """A run of digits or of letters in a form."""

    start: int
    end: int
    code: int  # its characters as a polynomial; a leading zero is none
    power: int  # what a code before it is multiplied by
    number: int  # of up to four digits, else -1
    month: int  # 1 to 12 of a month's name, else 0


@lru_cache(maxsize=1 << 16)
def pieces_of(form: str) -> tuple[Piece, ...]:
    """Split a form with digits, a few capitals or a month's name; others have no pieces.

    >>> [piece.number for piece in pieces_of("NHC0042")], pieces_of("Ana")
    ([-1, 42], ())
    """
    if form.isalpha():
        if not (_LETTERS.fullmatch(form) or (len(form) <= _LONGEST_MONTH and form in MONTHS)):
            return ()
    elif not _DIGIT.search(form):
        return ()
    return tuple(_piece(match) for match in _PIECE.finditer(form))


def code_of(text: str) -> str:
    """Return what makes up a code: capitals and digits, without leading zeros.

    >>> code_of("00-12 345/z")
    '12345Z'
    """
    return "".join(filter(str.isalnum, text)).upper().lstrip("0")


@lru_cache(maxsize=1 << 16)
def key_of(code: str) -> int:
    """Return a code as a polynomial, as an int64."""
    total = 0
    for one in code:
        total = (total * BASE + _value(one)) % 2**64
    return total - 2**64 if total >= 2**63 else total


def _piece(match: re.Match[str]) -> Piece:
    text = (match[1] or match.group()).upper()
    month = text in MONTHS
    digits = text.isdecimal()
    return Piece(
        match.start(),
        match.end(),
        key_of(text),
        _signed(pow(BASE, len(text), 2**64)),
        int(text) if digits and len(text) <= _LONGEST_YEAR else -1,
        MONTHS.read(text, "english").number + 1 if month else 0,
    )


def _value(one: str) -> int:
    return ord(one) - ord("0")


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


class Parts:
    """The pieces of all tokens, in their order.

    Attributes
    ----------
    token : (p,) the token that each is in. code, power, number, month : as of a `Piece`.
    width : (p,) characters.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._forms = forms = tokens.forms
        pieces = [pieces_of(form) for form in forms]
        many = np.fromiter(map(len, pieces), np.int64, len(pieces))
        table = np.array([one for found in pieces for one in found], dtype=np.int64).reshape(-1, 6)
        first = np.cumsum(many) - many
        at = np.flatnonzero(many[tokens.form])
        form = tokens.form[at]
        self.token = np.repeat(at, many[form])
        rows = table[runs(first[form], many[form])]
        self._start, self._end = rows[:, 0], rows[:, 1]
        self.code, self.power, self.number, self.month = rows[:, 2:].T
        self.width = self._end - self._start

    @cached_property
    def document(self) -> Longs:
        return np.asarray(self._tokens.document[self.token], dtype=np.int64)

    @cached_property
    def joined(self) -> NDArray[np.bool_]:
        """Return whether the next part may go on with the code of this one, (p,)."""
        return self._linked(_CODE_SIGNS)

    @cached_property
    def dated(self) -> NDArray[np.bool_]:
        """Return whether the next part may go on with the date of this one, (p,)."""
        return self._linked(_DATE_SIGNS)

    def _linked(self, signs: frozenset[str]) -> NDArray[np.bool_]:
        tokens = self._tokens
        sign = np.zeros(len(tokens.forms) + 1, dtype=np.bool_)
        sign[[tokens.known.find(one) for one in signs]] = True
        sign[NOWHERE] = False
        other = np.cumsum(~sign[tokens.form])
        line = np.cumsum(tokens.gap >= LINE)
        here, then = self.token[:-1], self.token[1:]
        between = other[np.maximum(then - 1, here)] == other[here]
        near = (then - here <= _BETWEEN + 1) & (line[then] == line[here])
        linked = np.zeros(len(self.token), dtype=np.bool_)
        linked[:-1] = between & near
        return linked

    def span(self, first: int, last: int) -> tuple[int, int, int]:
        """Return the document of some parts, and their characters."""
        tokens, (begin, end) = self._tokens, (self.token[first], self.token[last])
        start, stop = int(tokens.starts[begin]), int(tokens.ends[end])
        if int(tokens.ends[begin]) - start == len(self._forms[tokens.form[begin]]):
            start += int(self._start[first])
        if stop - int(tokens.starts[end]) == (whole := len(self._forms[tokens.form[end]])):
            stop -= whole - int(self._end[last])
        return int(self.document[first]), start, stop

    def text(self, first: int, last: int) -> str:
        """Return the code that some parts make."""
        form = self._tokens.form
        return code_of(
            "".join(
                self._forms[form[self.token[at]]][self._start[at] : self._end[at]]
                for at in range(first, last + 1)
            )
        )
