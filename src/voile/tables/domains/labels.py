"""Write labels of intervals in a form that no spreadsheet reads as a date."""

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
    """The style of labels: ranges with `between` in the middle, or lists of values if `listed`.

    Values that could be misread are put in quotes if `quoted`. A list of more than `most` values is
    written as the first value, the last value and their number.
    """

    between: str = "-"
    listed: bool = False
    quoted: bool = True
    most: int = SHOWN


def reads_as_date(label: str) -> bool:
    """Return whether a spreadsheet might convert this label to a date.

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
    """Choose one style for the labels of a whole domain.

    Text that is not all digits is listed (``Black|Other``) in alphabetical order. The label then
    names a set and does not reveal the order of the domain. Ranges use ``-``. They all use `` to ``
    if some value contains a ``-``, as dates and negative numbers do.
    """
    known = [v for v in values if v is not None]
    if kind in ("text", "listed") and not all(str(v).isdigit() for v in known):
        return RangeStyle(listed=True)
    between = " to " if any("-" in str(v) for v in known) else "-"
    return RangeStyle(between, quoted=not (kind == "date" and by == "day"))


def label_intervals(
    kind: str, by: str, values: Sequence[Any], bounds: Sequence[tuple[int, int]]
) -> tuple[str, ...]:
    """Return labels for intervals (first, last) of ordered values, both included, in one style.

    Long lists are shortened, unless two overlapping intervals would then have the same label.
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
    """Return labels for intervals of bins by their edges.

    The lowest edge is None. If `nullable`, null is the last value.

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
    """Return labels in a style, or all with `` to `` if one of them could be read as a date."""
    written = labels(style)
    if any(reads_as_date(label) for label in written):
        return labels(replace(style, between=" to "))
    return written


def _is_range(ranks: NDArray[np.intp] | None, first: int, last: int) -> bool:
    """Return whether the values are consecutive numbers of the domain, so that a range fits."""
    return ranks is None or bool(np.all(np.diff(ranks[first : last + 1]) == 1))


def _ranks(values: Sequence[Any]) -> NDArray[np.intp]:
    """Return the rank of each known value among the values, compared as numbers."""
    known = [str(v) for v in values if v is not None]
    order = sorted(range(len(known)), key=lambda i: (len(known[i]), known[i]))
    return np.argsort(order)


def label_interval(values: Sequence[Any], first: int, last: int, style: RangeStyle) -> str:
    """Return the label of the values `first` to `last`. Null is written ``missing``.

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
    """Return the label of a set of values as a complete list. Null, if any, is the last value.

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
    """Return the label of a range with both ends included, or of a single value."""
    return _value(first, style) if first == last else f"{first}{style.between}{last}"


def _value(value: Any, style: RangeStyle) -> str:
    """Return one value as text, in quotes if it could be taken for a list, null or a date."""
    text = str(value)
    taken = text in ("", "...", MISSING) or "|" in text or '"' in text or text.endswith(" values)")
    if style.quoted and (taken or reads_as_date(text)):
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text
