"""Find known days in all forms that a note may use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from voile.documents.model.start.known.owned import FoundValue, Longs, OwnedKeys
from voile.documents.model.start.known.parts import TokenParts
from voile.documents.replacements.dates import read_date

_CENTURY = 100
_COMPACT = re.compile(r"((?:1[89]|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:\d{4}|\d{6})?")
"""19631003, optionally with a time: the form of days in exports of hospital systems."""


def read_days(text: str) -> set[int]:
    """Return the possible days of a text, such as 19631003, in both orders of day and month.

    >>> sorted(read_days("03/10/1963")), read_days("10 oct 1963"), read_days("October 1963")
    ([19630310, 19631003], {19631010}, set())
    >>> read_days("19631003"), read_days("196310031230"), read_days("19631303")
    ({19631003}, {19631003}, set())
    """
    if compact := _COMPACT.fullmatch(text):
        return {int("".join(compact.groups()))}
    days = set()
    for order in ("dmy", "mdy"):
        read = read_date(text, order, "english")
        if read is None or not read.day or not read.month:
            continue
        short = len(read.of("year")) == 2
        for year in {read.year, read.year - _CENTURY * short}:
            days.add((year * 100 + read.month) * 100 + read.day)
    return days


def day_keys(day: int) -> tuple[int, int]:
    """Return a day with its full year, and with its two-digit year."""
    return day, day % 1_000_000


def day_codes(day: int) -> set[str]:
    """Return a day as a note may write it in one number, without leading zeros.

    >>> sorted(day_codes(19631003))
    ['10031963', '19631003', '3101963']
    """
    year, month, number = day // 10_000, day // 100 % 100, day % 100
    turned = (f"{number:02}{month:02}{year}", f"{month:02}{number:02}{year}")
    return {f"{day}", *(one.lstrip("0") for one in turned)}


@dataclass(frozen=True)
class _DayOrder:
    """The positions of the year, the month and the day among three successive numbers."""

    year: int
    month: int
    day: int


_ORDERS = (_DayOrder(2, 1, 0), _DayOrder(2, 0, 1), _DayOrder(0, 1, 2))


def find_days(parts: TokenParts, values: OwnedKeys, whose: Longs) -> Iterable[FoundValue]:
    """Find the days of each document's people; `whose` is the owner of each part, (parts,)."""
    at = np.flatnonzero(parts.date_links[:-1] & parts.date_links[1:])
    numbers: Sequence[Longs] = [parts.number[at + step] for step in range(3)]
    widths = [parts.width[at + step] for step in range(3)]
    months = [parts.month[at + step] for step in range(3)]
    for order in _ORDERS:
        year, month, day = numbers[order.year], numbers[order.month], numbers[order.day]
        named = months[order.month] > 0
        fits = (widths[order.year] == 4) | ((widths[order.year] == 2) & (order.year == 2))
        fits &= (months[order.year] == 0) & (months[order.day] == 0)
        fits &= (day >= 1) & (day <= 31) & (named | ((month >= 1) & (month <= 12)))
        keys = (year * 100 + np.where(named, months[order.month], month)) * 100 + day
        query, item = values.meet(whose[at[fits]], keys[fits])
        first = at[fits][query]
        yield from parts.list_found(first, first + 2, item)
