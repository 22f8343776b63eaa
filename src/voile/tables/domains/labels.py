"""How an interval of an ordered domain is written, so that no spreadsheet reads it as a date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

MISSING = "missing"
ANY = "any"
SHOWN = 8
TWO_NUMBERS = re.compile(r"(\d{1,4})[-/](\d{1,4})\Z")
OTHER_DATES = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\Z"
    r"|(\d{1,2}[- /]?)?(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?"
    r"|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)[- /]?(\d{1,4})?\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class RangeStyle:
    """Ranges as first, `between`, last; or values `listed`, `quoted` where one could mislead.

    A list of more than `most` values is written as the first, the last, and their number.
    """

    between: str = "-"
    listed: bool = False
    quoted: bool = True
    most: int = SHOWN


def reads_as_date(label: str) -> bool:
    """Whether a spreadsheet might turn this label into a date.

    >>> [reads_as_date(x) for x in ("0-17", "18-44", "1-12", "5-44", "1990-12", "1990-1995")]
    [False, False, True, True, True, False]
    """
    match = TWO_NUMBERS.match(label)
    if not match:
        month_named = OTHER_DATES.match(label)
        return bool(month_named) and any(letter.isdigit() for letter in label)
    a, b = int(match[1]), int(match[2])
    day_and_month = (1 <= a <= 12 and 1 <= b <= 31) or (1 <= b <= 12 and 1 <= a <= 31)
    month_and_year = 1 <= a <= 12 and (b <= 99 or b >= 1900)
    year_and_month = 1 <= b <= 12 and (a <= 99 or a >= 1900)
    return day_and_month or month_and_year or year_and_month


def style_for(kind: str, by: str, values: Sequence[Any]) -> RangeStyle:
    """Choose one style for a whole domain.

    Text that is not all digits is listed (``Black|Other``), in the alphabet's order. A label then
    names a set and does not reveal the order of the domain. Ranges use ``-``. They all use `` to ``
    if one value contains a ``-``, as dates and numbers below zero do.
    """
    known = [v for v in values if v is not None]
    if kind in ("text", "listed") and not all(str(v).isdigit() for v in known):
        return RangeStyle(listed=True)
    between = " to " if any("-" in str(v) for v in known) else "-"
    return RangeStyle(between, quoted=not (kind == "date" and by == "day"))


def label_intervals(
    kind: str, by: str, values: Sequence[Any], bounds: Sequence[tuple[int, int]]
) -> tuple[str, ...]:
    """Write intervals (first, last) of ordered values, both ends included, all in one style.

    Long lists are shortened, but where two intervals that overlap would then have one label.
    """
    style = style_for(kind, by, values)
    ranks = _ranks(values) if kind == "listed" and not style.listed else None

    def labels(style: RangeStyle) -> tuple[str, ...]:
        listed = replace(style, listed=True)
        return tuple(
            label_interval(values, a, b, style if _is_range(ranks, a, b) else listed)
            for a, b in bounds
        )

    short = write_in_one_style(labels, style)
    called = Counter(label for _, label in set(zip(bounds, short, strict=True)))
    if len(called) == called.total():
        return short
    whole = write_in_one_style(labels, replace(style, most=len(values)))
    return tuple(
        long if called[label] > 1 else label for label, long in zip(short, whole, strict=True)
    )


def label_bins(
    edges: Sequence[Any], bounds: Sequence[tuple[int, int]], *, nullable: bool
) -> tuple[str, ...]:
    """Write intervals of bins by their edges, the lowest of which is None; null may be the last.

    >>> label_bins((None, 18, 25), [(0, 0), (1, 1), (2, 2)], nullable=False)
    ('under 18', '18 to below 25', '25 and over')
    >>> label_bins((None, 18, None), [(0, 2)], nullable=True)
    ('any|missing',)
    """
    last = len(edges) - nullable

    def label(first: int, end: int) -> str:
        parts = [_bin(edges[first], edges[end] if end < last else None)] if first < last else []
        return "|".join(parts + [MISSING] * (end > last))

    return tuple(label(first, end + 1) for first, end in bounds)


def _bin(low: Any, below: Any) -> str:
    if low is None:
        return ANY if below is None else f"under {below}"
    return f"{low} and over" if below is None else f"{low} to below {below}"


def write_in_one_style(
    labels: Callable[[RangeStyle], tuple[str, ...]], style: RangeStyle
) -> tuple[str, ...]:
    """Write labels in a style; all with `` to `` where one would read as a date."""
    written = labels(style)
    if any(reads_as_date(label) for label in written):
        return labels(replace(style, between=" to "))
    return written


def _is_range(ranks: NDArray[np.intp] | None, first: int, last: int) -> bool:
    """Whether the values are a run of the domain's numbers, so that its ends say which."""
    return ranks is None or bool(np.all(np.diff(ranks[first : last + 1]) == 1))


def _ranks(values: Sequence[Any]) -> NDArray[np.intp]:
    """Where known values, all of digits, stand among numbers."""
    known = [str(v) for v in values if v is not None]
    order = sorted(range(len(known)), key=lambda i: (len(known[i]), known[i]))
    return np.argsort(order)


def label_interval(values: Sequence[Any], first: int, last: int, style: RangeStyle) -> str:
    """Write values `first`..`last`; null, when it is among them, as ``missing``.

    >>> label_interval((0, 1, None), 0, 2, RangeStyle())
    '0-1|missing'
    """
    shown = list(values[first : last + 1])
    missing = shown[-1] is None
    if missing:
        shown.pop()
    if style.listed:
        shown.sort(key=str)
    parts = [_list_values(shown, style)] if shown else []
    return "|".join(parts + [MISSING] * missing)


def label_list(values: Sequence[Any]) -> str:
    """Write a set of values, all of them; null is its last.

    >>> label_list(("3", "1", None))
    '1|3|missing'
    """
    return label_interval(values, 0, len(values) - 1, RangeStyle(listed=True, most=len(values)))


def _list_values(shown: Sequence[Any], style: RangeStyle) -> str:
    if style.listed:
        texts = [_value(v, style) for v in shown]
        if len(texts) <= style.most:
            return "|".join(texts)
        return f"{texts[0]}|...|{texts[-1]} ({len(texts)} values)"
    return label_range(shown[0], shown[-1], style)


def label_range(first: Any, last: Any, style: RangeStyle) -> str:
    """Write a range, both ends included; a single value as itself."""
    return _value(first, style) if first == last else f"{first}{style.between}{last}"


def _value(value: Any, style: RangeStyle) -> str:
    """Write one value, in quotes where it could be taken for a list, for null or for a date."""
    text = str(value)
    taken = text in ("", "...", MISSING) or "|" in text or '"' in text or text.endswith(" values)")
    if style.quoted and (taken or reads_as_date(text)):
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text
