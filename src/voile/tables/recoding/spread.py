"""Spread the people of each published interval over its values, according to the marginals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.domains.labels import MISSING
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn
from voile.tables.recoding.marginals import ColumnMarginal
from voile.tables.recoding.possible import PossibleValues, expect_cells, widths
from voile.tables.recoding.raking import rake

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IntervalSpread(BriefRepr):
    """The pieces of each interval, within which all values are equally likely.

    Attributes
    ----------
    column : the published column.
    pieces : the same column, with its intervals divided where runs end, in order.
    first : (intervals + 1,) the position of the first piece of each interval.
    share : (pieces,) each piece's share of its interval's people.
    """

    shows = ("column",)

    column: CodedColumn
    pieces: CodedColumn
    first: Ints
    share: Floats

    @classmethod
    def of(
        cls, column: CodedColumn, marginal: ColumnMarginal | None, people: Floats
    ) -> IntervalSpread:
        """Rake the people of each interval, (intervals,), to the counts of runs."""
        n = len(column.entries)
        if marginal is None or not people.sum():
            return cls(column, column, np.arange(n + 1), np.ones(n))
        reached = marginal.find_reached(column)
        interval, run = np.nonzero(reached)
        read: Callable[[Any], Any] = column.parser.restore
        cut = replace(
            column,
            entries=tuple(
                _intersect_entries(column.entries[i], marginal.runs[r], read)
                for i, r in zip(interval, run, strict=True)
            ),
        )
        width = np.zeros(reached.shape)
        width[interval, run] = widths(cut)
        held = np.array(marginal.people) * people.sum() / sum(marginal.people)
        share = rake(width, people, held)
        first = np.searchsorted(interval, np.arange(n + 1))
        return cls(column, cut, first, share[interval, run])

    @property
    def expected_cells(self) -> pa.Array:
        """Return one cell for each interval: the mean of its known values, or the label of text."""
        if self.pieces is self.column or not self.column.parser.is_scale:
            return expect_cells(self.column)
        cells = expect_cells(self.pieces)
        numbers = cells.cast(pa.int64()) if pa.types.is_timestamp(cells.type) else cells
        known = numbers.is_valid().to_numpy(zero_copy_only=False)
        values = numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
        shares = np.where(known, self.share, 0.0)
        whole = np.add.reduceat(shares, self.first[:-1])
        mean = np.divide(
            np.add.reduceat(shares * values, self.first[:-1]),
            whole,
            out=np.zeros_like(whole),
            where=whole > 0,
        )
        if cells.type != pa.float64():
            mean = np.round(mean)
        made = pa.array(mean, mask=~(whole > 0))
        return made if cells.type == pa.float64() else made.cast(pa.int64()).cast(cells.type)

    @cached_property
    def _possible(self) -> PossibleValues:
        return PossibleValues.of(self.pieces)

    @cached_property
    def _starts(self) -> Ints:
        """Return the position of each piece's first value among all values, (pieces + 1,)."""
        return np.concatenate(([0], np.cumsum(self._possible.sizes)))

    @property
    def sizes(self) -> Ints:
        """Return the number of possible values of each interval, including null, (intervals,)."""
        return np.diff(self._starts[self.first])

    def values(self, interval: NDArray[np.int32], nth: Ints) -> tuple[pa.Array, Floats]:
        """Return the `nth` value of each interval, and its weight."""
        place = self._starts[self.first[interval]] + nth
        piece = np.searchsorted(self._starts, place, side="right") - 1
        cells = self._possible.cells(piece.astype(np.int32), place - self._starts[piece])
        return cells, self.share[piece] / self._possible.sizes[piece]


def _intersect_entries(
    one: CodebookEntry, other: CodebookEntry, read: Callable[[Any], Any]
) -> CodebookEntry:
    """Return the common part of two intervals, which is not empty."""
    missing = one.missing and other.missing
    nothing = CodebookEntry(MISSING, None, None, missing=missing)
    if MISSING in (one.label, other.label):
        return nothing
    if one.values or other.values:
        values = tuple(value for value in one.values if value in other.values)
        if not values:
            return nothing
        return CodebookEntry("", values[0], values[-1], None, missing, values)
    firsts = [entry.first for entry in (one, other) if entry.first is not None]
    first = max(firsts, key=read, default=None)
    tops = [entry for entry in (one, other) if entry.bounds[1] is not None]
    # of two equal ends, the one that is not included is lower
    top = min(tops, key=lambda e: (read(e.bounds[1]), e.below is None), default=None)
    if first is not None and top is not None:
        low, high = read(first), read(top.bounds[1])
        if low > high or (low == high and top.below is not None):
            return nothing
    last, below = (None, None) if top is None else (top.last, top.below)
    return CodebookEntry("", first, last, below, missing)
