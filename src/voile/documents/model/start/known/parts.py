"""Represent digits and letters of tokens as numbers that can be joined to codes and days."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.documents.model.start.known.owned import BASE, FoundValue, Longs, runs
from voile.documents.replacements.dates import MONTHS
from voile.documents.words.tokens import LINE, NOWHERE, TextTokens

_PIECE = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|ro|o)(?![^\W_])|\d+|[^\W\d_]+")
_LETTERS = re.compile(r"[A-Z]{1,6}")
_DIGIT = re.compile(r"\d")
_LONGEST_MONTH = 10  # letters
_CODE_SIGNS = frozenset("-./()+#")
_DATE_SIGNS = frozenset(["-", "/", ".", ",", "'", "de", "del", "of", "the", "año", "DE", "DEL"])
_BETWEEN = 3  # tokens between two parts
_LONGEST_YEAR = 4


class FormPiece(NamedTuple):
    """A run of digits or of letters in a form."""

    start: int
    end: int
    code: int  # the polynomial hash of its characters; leading zeros do not count
    power: int  # the factor of a preceding code
    number: int  # the value of up to four digits, else -1
    month: int  # 1 to 12 for a month's name, else 0
    whole: int  # the length of its form


@lru_cache(maxsize=1 << 16)
def pieces_of(form: str) -> tuple[FormPiece, ...]:
    """Split a form with digits, a few capitals or the name of a month; others have no pieces.

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
    """Return the characters of a code: capitals and digits, without leading zeros.

    >>> code_of("00-12 345/z")
    '12345Z'
    """
    return "".join(filter(str.isalnum, text)).upper().lstrip("0")


@lru_cache(maxsize=1 << 16)
def key_of(code: str) -> int:
    """Return the polynomial hash of a code, as an int64."""
    total = 0
    for one in code:
        total = (total * BASE + _value(one)) % 2**64
    return total - 2**64 if total >= 2**63 else total


def _piece(match: re.Match[str]) -> FormPiece:
    text = (match[1] or match.group()).upper()
    month = text in MONTHS
    digits = text.isdecimal()
    return FormPiece(
        match.start(),
        match.end(),
        key_of(text),
        _convert_signed(pow(BASE, len(text), 2**64)),
        int(text) if digits and len(text) <= _LONGEST_YEAR else -1,
        MONTHS.read_word(text, "english").number + 1 if month else 0,
        len(match.string),
    )


def _value(one: str) -> int:
    return ord(one) - ord("0")


def _convert_signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


class TokenParts:
    """The pieces of all tokens, in order.

    Attributes
    ----------
    token : (p,), the token of each piece.
    code, power, number, month : (p,), as in a `FormPiece`.
    width : (p,), the number of characters.
    """

    def __init__(self, tokens: TextTokens) -> None:
        self._tokens = tokens
        pieces = [pieces_of(form) for form in tokens.forms]
        many = np.fromiter(map(len, pieces), np.int64, len(pieces))
        numbers = chain.from_iterable(chain.from_iterable(pieces))
        table = np.fromiter(numbers, np.int64).reshape(-1, len(FormPiece._fields)).T
        first = np.cumsum(many) - many
        at = np.flatnonzero(many[tokens.form])
        form = tokens.form[at]
        self.token = np.repeat(at, many[form])
        self._row = runs(first[form], many[form])
        parts = table[:, self._row]
        self._texts = [
            form[piece.start : piece.end]
            for form, found in zip(tokens.forms, pieces, strict=True)
            for piece in found
        ]
        self._start, self._end, self.code, self.power, self.number, self.month, self._whole = parts
        self.width = self._end - self._start

    @cached_property
    def document(self) -> Longs:
        return np.asarray(self._tokens.document[self.token], dtype=np.int64)

    @cached_property
    def code_links(self) -> NDArray[np.bool_]:
        """Whether the next piece may continue the code of each piece, (p,)."""
        return self._find_links(_CODE_SIGNS)

    @cached_property
    def date_links(self) -> NDArray[np.bool_]:
        """Whether the next piece may continue the date of each piece, (p,)."""
        return self._find_links(_DATE_SIGNS)

    def _find_links(self, signs: frozenset[str]) -> NDArray[np.bool_]:
        tokens = self._tokens
        sign = np.zeros(len(tokens.forms) + 1, dtype=np.bool_)
        sign[[tokens.known.find(one) for one in signs]] = True
        sign[NOWHERE] = False
        here, then = self.token[:-1], self.token[1:]
        linked = np.zeros(len(self.token), dtype=np.bool_)
        linked[:-1] = then - here <= _BETWEEN + 1
        for step in range(1, _BETWEEN + 2):
            at = np.minimum(here + step, then)
            goes_on = (tokens.gap[at] < LINE) & (sign[tokens.form[at]] | (at == then))
            linked[:-1] &= goes_on | (here + step > then)
        return linked

    def list_found(self, first: Longs, last: Longs, items: Longs) -> Iterator[FoundValue]:
        """Yield the found values with their offsets, each from a first to a last piece."""
        tokens, begin, end = self._tokens, self.token[first], self.token[last]
        start, stop = tokens.starts[begin], tokens.ends[end]
        # a token that represents other characters is removed as a whole
        plain = tokens.ends[begin] - start == self._whole[first]
        start = start + plain * self._start[first]
        plain = stop - tokens.starts[end] == self._whole[last]
        stop = stop - plain * (self._whole[last] - self._end[last])
        found = (self.document[first], start, stop, items)
        yield from map(FoundValue, *(one.tolist() for one in found))

    def texts(self, first: Longs, last: Longs) -> Iterator[str]:
        """Yield the code of each range of pieces."""
        row = self._row.data
        for low, high in zip(first.tolist(), last.tolist(), strict=True):
            yield code_of("".join([self._texts[row[at]] for at in range(low, high + 1)]))
