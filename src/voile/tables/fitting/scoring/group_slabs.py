"""Represent the cells along one attribute as a table from which all its intervals are summed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from voile.tables.fitting.kernels.scorer import Bits, Sums
from voile.tables.fitting.scoring.group_sums import Floats, GroupSums, GroupTally, sum_by_row


class DenseSlabs:
    """The cells by value of one attribute (v) and group of the others (g), as rows v x g."""

    def __init__(
        self, measures: GroupSums, tally: GroupTally, own_width: Floats, width: Floats
    ) -> None:
        shape = (len(own_width), len(width))
        self.measures = measures
        self.own_width, self.width = own_width, width
        self.parts = (
            tally.n.reshape(shape),
            tally.people.reshape(shape),
            tally.more.reshape(*shape, tally.more.shape[1]),
        )

    def from_value(self, begin: int, end: int) -> Sums:
        """Score the intervals from value `begin` to each value up to `end`."""
        return self._score_intervals([self._grow_intervals(begin, end, 1)])

    def flips(self, kept: Bits) -> Sums:
        """Score the policies that differ in one of the attribute's bits.

        `kept` are the policy's own bits.
        """
        edges = np.concatenate([[0], np.flatnonzero(kept) + 1, [len(kept) + 1]])
        pairs = list(zip(edges[:-1], edges[1:] - 1, strict=True))
        left = self._score_intervals([self._grow_intervals(a, b, 1) for a, b in pairs])
        right = self._score_intervals([self._grow_intervals(b, a, -1) for a, b in pairs])
        # Intervals grown backwards from their end are in reverse order.
        right = np.concatenate([right[a : b + 1][::-1] for a, b in pairs])
        whole = left[edges[1:] - 1]
        sums = np.repeat(-whole, np.diff(edges), axis=0)[:-1] + left[:-1] + right[1:]
        joins = edges[1:-1] - 1
        if len(joins):
            both = [self._join_interval(a, b) for (a, _), (_, b) in pairwise(pairs)]
            sums[joins] = self._score_intervals(both) - whole[:-1] - whole[1:]
        total: Sums = sums + whole.sum(axis=0)
        return total

    def _grow_intervals(self, begin: int, end: int, step: int) -> tuple[Floats, ...]:
        """Return the tally of each interval from `begin` on, up to the interval to `end`."""
        own = slice(begin, end + 1) if step > 0 else slice(begin, None if end == 0 else end - 1, -1)
        parts = (part[own] for part in (self.own_width, *self.parts))
        return tuple(np.add.accumulate(part, axis=0) for part in parts)

    def _join_interval(self, begin: int, end: int) -> tuple[Floats, ...]:
        """Return the tally of the interval from `begin` to `end`, as one row."""
        own = slice(begin, end + 1)
        return tuple(part[own].sum(axis=0)[None] for part in (self.own_width, *self.parts))

    def _score_intervals(self, rows: list[tuple[Floats, ...]]) -> Sums:
        """Score intervals, each a row of sums by group."""
        own_width, n, people, more = map(np.concatenate, zip(*rows, strict=True))
        at = np.flatnonzero(n > 0)
        row, group = np.divmod(at, n.shape[1])
        parts = [part.reshape(n.size, *part.shape[2:]) for part in (n, people, more)]
        tally = GroupTally(*(part.take(at, axis=0) for part in parts))
        return sum_by_row(row, self.measures(tally, own_width[row] * self.width[group]), len(n))
