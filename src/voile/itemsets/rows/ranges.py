"""Columns of numbers and dates: on a grid during the fit, then as the chosen intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import pyarrow as pa

from voile.itemsets.rows.forms import CategoriesForm, ColumnForm, FeatureCells
from voile.itemsets.rows.scales import NOT_KNOWN, NumberInterval, NumberScale


@dataclass(frozen=True)
class GridForm(ColumnForm):
    """One feature for rows without a number, and one for each cell between candidate split points.

    `fit` chooses split points from this form. It is neither stored nor released.
    """

    kind = "grid"
    lacks = "a value that is not a finite number, or not a date"
    remedy = "correct them, or name what says that nothing is known (missing = [...])"
    scale: NumberScale
    cuts: tuple[float, ...]

    @classmethod
    def between(cls, column: str, scale: NumberScale, cuts: Sequence[float]) -> GridForm:
        """Return a form with named cells between the candidate split points, which must rise.

        Without split points, there are no features.
        """
        ends = pairwise([None, *cuts, None]) if cuts else ()
        names = [scale.name(NumberInterval(*one)) for one in ends]
        return cls(column, (NOT_KNOWN, *names) if cuts else (), scale, tuple(cuts))

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the cell of each number. A row without a number has the first feature."""
        numbers, lost = self.scale.numbers(array)
        row = np.flatnonzero(~lost & bool(self.values))
        place = np.searchsorted(self.cuts, numbers[row], side="right") + 1
        return FeatureCells(row, np.where(np.isnan(numbers[row]), 0, place), lost)

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Raise NotImplementedError: a grid is never released."""
        raise NotImplementedError


@dataclass(frozen=True)
class RangesForm(CategoriesForm):
    """One feature for each interval that some policy publishes, or for rows without a number.

    The intervals of one policy are disjoint and cover all numbers. Intervals of two policies may
    overlap. `ends` are the intervals in the order of `values`, with None for rows without a number.
    """

    kind = "ranges"
    lacks = GridForm.lacks
    remedy = GridForm.remedy
    scale: NumberScale
    ends: tuple[NumberInterval | None, ...]

    @classmethod
    def of(
        cls, column: str, scale: NumberScale, ends: Iterable[NumberInterval | None]
    ) -> RangesForm:
        """Return a form with named intervals, each given once."""
        ends = tuple(ends)
        return cls(
            column, tuple(NOT_KNOWN if e is None else scale.name(e) for e in ends), scale, ends
        )

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the intervals of each number.

        A missing number cannot be read if none was missing at the fit.
        """
        numbers, lost = self.scale.numbers(array)
        absent = np.isnan(numbers) & ~lost
        held = [
            absent if e is None else _within(numbers, e) | (absent & e.unknown) for e in self.ends
        ]
        row, code = np.nonzero(np.array(held, dtype=np.bool_).reshape(len(held), len(lost)).T)
        if self.values and not any(map(_holds_unknown, self.ends)):
            lost = lost | absent
        return FeatureCells(row, code, lost)

    def is_whole(self, kept: np.ndarray[Any, np.dtype[np.bool_]]) -> bool:
        """Return whether the kept intervals are disjoint and cover all rows, or none is kept.

        >>> ends = [NumberInterval(*one) for one in [(None, 18), (None, 30), (30, None)]]
        >>> age = RangesForm.of("age", NumberScale("number", True), ends)
        >>> [age.is_whole(np.array(kept)) for kept in ([0, 1, 1], [1, 1, 1], [0, 0, 1], [0, 0, 0])]
        [True, False, False, True]
        """
        ends = [one for one, is_kept in zip(self.ends, kept, strict=True) if is_kept]
        if not ends:
            return True
        known = sorted((one for one in ends if one is not None), key=lambda one: one.ends)
        lows, highs = [one.low for one in known], [one.high for one in known]
        unknown = sum(map(_holds_unknown, ends))
        return [None, *highs] == [*lows, None] and unknown == any(map(_holds_unknown, self.ends))

    def to_data(self, kept: np.ndarray[Any, np.dtype[np.bool_]] | None = None) -> dict[str, Any]:
        """Return plain data, with the boundaries of the kept intervals and the column's scale."""
        ends = [e and list(e) for x, e in enumerate(self.ends) if kept is None or kept[x]]
        return {**super().to_data(kept), "ends": ends, "scale": self.scale.to_data()}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        ends = tuple(None if e is None else _interval(*e) for e in data["ends"])
        values = tuple(data["values"])
        return cls(data["column"], values, NumberScale.from_data(data["scale"]), ends)


def _interval(low: float | None, high: float | None, unknown: bool) -> NumberInterval:
    return NumberInterval(
        None if low is None else float(low), None if high is None else float(high), bool(unknown)
    )


def _holds_unknown(interval: NumberInterval | None) -> bool:
    return interval is None or interval.unknown


def _within(
    numbers: np.ndarray[Any, np.dtype[np.float64]], interval: NumberInterval | None
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    if interval is None:
        return np.zeros(len(numbers), dtype=np.bool_)
    low, high = interval.ends
    return np.asarray((numbers >= low) & (numbers < high))
