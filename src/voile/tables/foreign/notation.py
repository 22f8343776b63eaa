"""Read a generalised cell of another tool as a set of values of the original's domain.

The module reads the notations of ARX, sdcMicro, Amnesia, ANJANA and anonypy, and voile's own
labels. It also reads common notations: `20-29`, `[20, 30)`, `[20, 30[`, `<30`, `80+`, `20*`, `a|b`,
`{a, b}`, `*`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.labels import ANY, MISSING
from voile.tables.domains.parser import NotInKind

Bits = NDArray[np.bool_]
SUPPRESSED = frozenset({"", "*", "NA", "N/A", "<NA>", "NaN", "nan", "NULL", "null", "None"})
"""The texts of a suppressed cell in the tools that write one."""
BRACKETS = tuple(
    re.compile(rf"([\[\](])\s*(.*?)\s*{between}\s*(.*?)\s*([)\[\]])\Z")
    for between in ("[,;]", r"(?:\s(?:-|to)\s|(?<=\d)-)")
)
BETWEEN = re.compile(r"\s+to\s+(?:below\s+)?|\s*(?:\.\.\.?|–|—)\s*|\s+-\s+")
BELOW = re.compile(r"(<=?|≤|under |below |before |up to )\s*(.+)\Z")
ABOVE = re.compile(r"(>=?|≥|over |above |from )\s*(.+)\Z")
AND_OVER = re.compile(r"(.+?)\s*(?:\+|(?:and|or) (?:over|above|more|later))\Z")
MASKED = re.compile(r"[^*]*\*+[^*]*\Z")
INFINITE = {"-inf": None, "inf": None, "-∞": None, "∞": None, "+inf": None, "": None}


class CellNotation:
    """A reader of one released column's cells as sets of values of its original's domain.

    Parameters
    ----------
    domain : the domain of the original column.
    groups : the values of each group of the column's hierarchy, by label, if there is a hierarchy.
    """

    def __init__(
        self, domain: ValueDomain, groups: Mapping[str, frozenset[str]] | None = None
    ) -> None:
        self.domain = domain
        self._groups = groups or {}

    def __call__(self, text: str) -> Bits | None:
        """Return a mask (values,) of the values that a cell's text represents.

        The result is None if the text cannot be read.

        >>> from voile.tables.domains.parser import CellParser
        >>> age = CellNotation(ValueDomain("age", (20, 21, 22, 23, 30), CellParser("integer")))
        >>> [age(cell).tolist() for cell in ("20-22", "(20, 23]", ">=23")]
        ... # doctest: +NORMALIZE_WHITESPACE
        [[True, True, True, False, False], [False, True, True, True, False],
         [False, False, False, True, True]]
        >>> age("about 20") is None
        True
        """
        text = text.strip()
        for read in (self._exact, self._group, self._any, self._scale, self._members, self._mask):
            found = read(text)
            if found is not None:
                return found if found.any() else None
        return None

    def _none(self) -> Bits:
        return np.zeros(len(self.domain), dtype=np.bool_)

    def _exact(self, text: str) -> Bits | None:
        place = self.domain.code(text)
        if place < 0 and self.domain.parser.is_number:  # a float of a whole number
            number = _decimal(text)
            place = self.domain.position.get(number, -1) if number is not None else -1
        if place < 0 and text == MISSING and self.domain.nullable:
            place = len(self.domain) - 1
        if place < 0:
            return None
        found = self._none()
        found[place] = True
        return found

    def _group(self, text: str) -> Bits | None:
        if text not in self._groups:
            return None
        return np.array([value in self._groups[text] for value in self.domain.values], np.bool_)

    def _any(self, text: str) -> Bits | None:
        found = ~self._none()
        if text == ANY and self.domain.nullable:
            found[-1] = False
        return found if text in SUPPRESSED or text == ANY else None

    def _members(self, text: str) -> Bits | None:
        """Read a list. Each part may have any notation except a list in brackets."""
        listed = text[1:-1] if text[:1] + text[-1:] in ("{}", "[]", "()") else text
        for separator in ("|", ";", ","):
            parts = [part.strip(" '\"") for part in listed.split(separator)]
            if len(parts) < 2 and listed == text:
                continue
            read = [self._part(part) for part in parts]
            if all(one is not None for one in read):
                return np.asarray(np.any([one for one in read if one is not None], axis=0))
        return None

    def _part(self, text: str) -> Bits | None:
        for read in (self._exact, self._group, self._scale):
            found = read(text)
            if found is not None:
                return found
        return None

    def _mask(self, text: str) -> Bits | None:
        """Read `20*` as the values of the same length, or else as all values with this prefix."""
        if not MASKED.match(text):
            return None
        known = [str(value) for value in self.domain.values if value is not None]
        for star in (".", ".*"):
            form = re.compile("".join(star if c == "*" else re.escape(c) for c in text), re.DOTALL)
            found = self._none()
            found[: len(known)] = [form.fullmatch(value) is not None for value in known]
            if found.any():
                return found
        return None

    def _scale(self, text: str) -> Bits | None:
        """Read an interval of numbers, dates, times or codes of digits."""
        if self._ends is None:
            return None
        for low, high in _intervals(text):
            between = self._between(low, high)
            if between is not None:
                return between
        return None

    def _between(self, low: tuple[str, bool] | None, high: tuple[str, bool] | None) -> Bits | None:
        assert self._ends is not None
        read, first, last = self._ends
        found = ~self._none()
        found[len(first) :] = False
        for end, is_low in ((low, True), (high, False)):
            if end is None:
                continue
            text, is_in = end
            value = read(text)
            if value is None:
                return None
            # a bin belongs to the interval if any part of it does
            values = last if is_low else first
            found[: len(first)] &= [_is_within(v, value, is_low, is_in) for v in values]
        return found

    @cached_property
    def _ends(self) -> tuple[Callable[[str], Any], list[Any], list[Any]] | None:
        """Return a parser of interval ends, and each known value's lower and upper end, or None.

        The result is None for a domain without an order.
        """
        domain, parser = self.domain, self.domain.parser
        known = list(domain.values[: len(domain) - domain.nullable])
        if parser.edges:
            firsts = [Decimal(str(value)) for value in known]  # -Infinity for the lowest bin
            after = [*firsts[1:], Decimal("Infinity")]
            return self._number, firsts, [_BelowNumber(end) for end in after]
        if parser.is_number:
            numbers = [Decimal(str(value)) for value in known]
            return self._number, numbers, numbers
        if parser.is_scale:
            return self._moment, known, known
        if known and all(str(value).isdigit() for value in known):
            numbers = [Decimal(str(value)) for value in known]
            return self._number, numbers, numbers
        return None

    def _number(self, text: str) -> Decimal | None:
        try:
            read = self.domain.parser.reading(text)
            return None if read is None else Decimal(str(read))
        except (NotInKind, InvalidOperation):
            return _decimal(text.removesuffix(self.domain.parser.unit))

    def _moment(self, text: str) -> Any:
        try:
            return self.domain.parser(text)
        except NotInKind:
            try:
                return self.domain.parser.restore(text)
            except (NotInKind, ValueError):
                return None


class _BelowNumber:
    """The upper end of a bin: all numbers below `end`, excluding `end`."""

    def __init__(self, end: Decimal) -> None:
        self.end = end


def _is_within(value: Any, end: Any, is_low: bool, is_in: bool) -> bool:
    if isinstance(value, _BelowNumber):
        return bool(value.end > end)
    if is_low:
        return bool(value >= end if is_in else value > end)
    return bool(value <= end if is_in else value < end)


End = tuple[str, bool] | None


def _intervals(text: str) -> Iterator[tuple[End, End]]:
    """Yield the possible ends of a text's interval, and whether each is included.

    An open end is None.
    """
    for form in BRACKETS:
        if match := form.match(text):
            opened, low, high, closed = match.groups()
            yield _end(low, opened == "["), _end(high, closed == "]")
    if match := BELOW.match(text):
        yield None, (match[2], match[1] in ("<=", "≤", "up to "))
    if match := ABOVE.match(text):
        yield (match[2], match[1] in (">=", "≥", "from ")), None
    if match := AND_OVER.match(text):
        yield (match[1], True), None
    for low, between, high in _split_range(text):
        yield (low, True), (high, "below" not in between)


def _split_range(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the text divided in two at each place that may separate the ends of a range."""
    for match in BETWEEN.finditer(text):
        yield text[: match.start()], match[0], text[match.end() :]
    for place, character in enumerate(text):
        if character == "-" and 0 < place < len(text) - 1:
            yield text[:place], "-", text[place + 1 :]


def _end(text: str, is_in: bool) -> End:
    return None if text.lower() in INFINITE else (text, is_in)


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
