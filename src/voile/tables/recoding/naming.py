"""Name the intervals of a release by the values of its rows, and by public values.

A value that only suppressed, rejected or held-out people have is in no name. An interval without
rows has no name.

- An end that the user declared is written unchanged.
- The outermost interval of a scale is open: `85 and over`.
- A split point between bins, or between whole numbers, dates or times without gaps, is written
  exactly: `20-29`, `30-39`.
- Numbers have their unit. A top- or bottom-coded value is open: `90 and over`.
- A split point in a gap is replaced by the roundest number above the nearest shown value below it.
  The number is at most the nearest shown value above it. The name reveals neither value.
- Text intervals list their shown values, or the first and the last if all are digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.round_cuts import roundest, roundest_decimal
from voile.tables.domains.domain import ValueDomain, from_ordinal, to_ordinal
from voile.tables.domains.labels import (
    ANY,
    MISSING,
    RangeStyle,
    label_intervals,
    label_list,
    label_range,
    style_for,
    write_in_one_style,
)
from voile.tables.domains.parser import BELOW_ALL, By, Value
from voile.tables.policies.policy import DomainInterval

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class IntervalName(BriefRepr):
    """The name of one interval of a policy: the fields of `CodebookEntry`, and its number."""

    shows = ("label",)

    number: int
    label: str
    first: Value
    last: Value
    below: Value
    missing: bool
    values: tuple[Value, ...]


def name_intervals(
    domain: ValueDomain, intervals: Sequence[DomainInterval], released: Mask
) -> tuple[IntervalName, ...]:
    """Return the names of the intervals that rows of a release belong to, in order.

    >>> from voile.tables.domains.parser import CellParser
    >>> age = ValueDomain("age", (20, 21, 45, 59, 108), CellParser("integer"))
    >>> whole = [DomainInterval(0, 1, ""), DomainInterval(2, 3, ""), DomainInterval(4, 4, "")]
    >>> [n.label for n in name_intervals(age, whole, np.array([1, 1, 1, 0, 0], dtype=bool))]
    ['under 30', '30 and over']
    """
    kept = [(n, i) for n, i in enumerate(intervals) if released[i.first : i.last + 1].any()]
    shown = released | domain.is_declared
    numbers = [number for number, _ in kept]
    own = [i for _, i in kept]
    named = _on_a_scale(domain, own, shown) if domain.is_scale else _of_text(domain, own, shown)
    return tuple(IntervalName(number, *parts) for number, parts in zip(numbers, named, strict=True))


def name_sets(domain: ValueDomain, sets: Mask, released: Mask) -> tuple[IntervalName, ...]:
    """Return the names of the value sets, (sets, values), of a release's rows, in order."""
    shown = released | domain.is_declared
    names = []
    for number, own in enumerate(sets):
        if not (own & released).any():
            continue
        values = [v for v, is_in in zip(domain.values, own & shown, strict=True) if is_in]
        known = tuple(value for value in values if value is not None)
        first, last = (known[0], known[-1]) if known else (None, None)
        label = label_list(values)
        names.append(IntervalName(number, label, first, last, None, None in values, known))
    return tuple(names)


def _of_text(
    domain: ValueDomain, intervals: Sequence[DomainInterval], shown: Mask
) -> list[tuple[Any, ...]]:
    values = [value for value, is_shown in zip(domain.values, shown, strict=True) if is_shown]
    before = np.concatenate(([0], np.cumsum(shown)))
    bounds = [(int(before[i.first]), int(before[i.last + 1]) - 1) for i in intervals]
    labels = label_intervals(domain.parser.kind, domain.parser.by, values, bounds)
    named = []
    for (first, last), label in zip(bounds, labels, strict=True):
        own = values[first : last + 1]
        known = tuple(value for value in own if value is not None)
        ends = (known[0], known[-1]) if known else (None, None)
        named.append((label, *ends, None, None in own, known))
    return named


def _on_a_scale(
    domain: ValueDomain, intervals: Sequence[DomainInterval], shown: Mask
) -> list[tuple[Any, ...]]:
    scale = _CutScale(domain, shown)
    ends = [scale.ends(interval) for interval in intervals]
    parser, values = domain.parser, [value for one in ends for value in one.written_values]
    style = style_for(parser.kind, parser.by, values)
    dates = not parser.is_number and parser.by != "hour"

    def labels(style: RangeStyle) -> tuple[str, ...]:
        return tuple(one.label(style, dates=dates, unit=parser.unit) for one in ends)

    written = write_in_one_style(labels, style)
    return [
        (label, one.first, one.last, one.below, one.missing, one.values)
        for label, one in zip(written, ends, strict=True)
    ]


@dataclass(frozen=True)
class _IntervalEnds:
    first: Value
    last: Value
    below: Value
    missing: bool
    values: tuple[Value, ...]
    after: Value = None
    """The value after `last`, at a split point between whole numbers or dates."""

    @property
    def written_values(self) -> tuple[Value, ...]:
        """Return the values for a label: the values, or the edges of bins."""
        return tuple(value for value in self.values if value != BELOW_ALL)

    def label(self, style: RangeStyle, *, dates: bool, unit: str) -> str:
        bears = f" {unit}" if unit else ""
        parts = [self._describe_range(style, bears, dates=dates)] if self.values else []
        return "|".join(parts + [MISSING] * self.missing)

    def _describe_range(self, style: RangeStyle, unit: str, *, dates: bool) -> str:
        if self.first is None:
            return self._up_to(unit, dates=dates)
        if self.below is not None:
            return f"{self.first} to below {self.below}{unit}"
        if self.last is None:
            return f"{self.first}{unit} and {'later' if dates else 'over'}"
        return f"{label_range(self.first, self.last, style)}{unit}"

    def _up_to(self, unit: str, *, dates: bool) -> str:
        end = self.below if self.after is None else self.after
        if end is not None:
            return f"{'before' if dates else 'under'} {end}{unit}"
        return ANY if self.last is None else f"up to {self.last}{unit}"


@dataclass(frozen=True)
class _CutScale:
    """The scale of a domain of numbers or dates, with public values for its split points."""

    domain: ValueDomain
    shown: Mask

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Return the positions of the known values that are shown."""
        return np.flatnonzero(self.shown[: len(self.domain) - self.domain.nullable])

    def ends(self, interval: DomainInterval) -> _IntervalEnds:
        domain = self.domain
        null = domain.values[interval.last] is None
        first, last = interval.first, interval.last - null
        own = self._places[(self._places >= first) & (self._places <= last)]
        values = tuple(domain.values[i] for i in own)
        missing = bool(null and self.shown[interval.last])
        if not values:
            return _IntervalEnds(None, None, None, missing, ())
        if first == last and not domain.covers_more(first):
            return _IntervalEnds(values[0], values[0], None, missing, values)
        low = domain.values[first] if self._is_end(first) else self._cut_value(first)
        if self._is_end(last):
            return _IntervalEnds(low, domain.values[last], None, missing, values)
        top = self._cut_value(last + 1)
        if top is None or domain.parser.kind == "decimal":
            return _IntervalEnds(low, None, top, missing, values)
        before = from_ordinal(to_ordinal(top, domain.parser) - 1, domain.parser)
        return _IntervalEnds(low, before, None, missing, values, top)

    def _is_end(self, place: int) -> bool:
        """Return whether this value may be published as the exact end of an interval."""
        return bool(self.domain.is_declared[place]) and not self.domain.covers_more(place)

    def _cut_value(self, place: int) -> Value:
        """Return the least public value above the split before a position, if there is one."""
        at = int(np.searchsorted(self._places, place))
        if at in (0, len(self._places)):
            return None
        if self.domain.is_contiguous:
            return self.domain.values[place]
        below, above = (self.domain.values[i] for i in self._places[at - 1 : at + 1])
        return _between(below, above, self.domain)


def _between(below: Any, above: Any, domain: ValueDomain) -> Value:
    parser = domain.parser
    if parser.kind == "decimal":
        return roundest_decimal(below, above)
    if parser.kind == "integer" or parser.by in ("year", "hour"):
        return roundest(below, above)
    if parser.kind == "time":
        return from_ordinal(roundest(to_ordinal(below, parser), to_ordinal(above, parser)), parser)
    return _round_date(below, above, parser.by)


def _round_date(below: str, above: str, by: By) -> str:
    """Return the first day of a round year between two dates, or else of a month, or else a day."""
    if below[:4] < above[:4]:
        return f"{roundest(int(below[:4]), int(above[:4])):04d}-01{'' if by == 'month' else '-01'}"
    if by == "day" and below[:7] == above[:7]:
        return f"{below[:8]}{(int(below[8:]) + 1 + int(above[8:])) // 2:02d}"
    month = (int(below[5:7]) + 1 + int(above[5:7])) // 2
    return f"{below[:4]}-{month:02d}{'' if by == 'month' else '-01'}"
