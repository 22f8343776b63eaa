"""Greedy by what features reveal of the label together, with few rows left unique.

A feature that reveals much alone may add nothing to those chosen, and makes rows unique all the
same. So each pick is the feature that adds most to the chosen ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.measures.feasibility import FeasibleSet
from voile.itemsets.searches.picking import ClassSums, Counts, pick
from voile.itemsets.searches.run import Indices, ItemsetsSearchRun

TINY = 1e-9
MOST_ONES = 2**20
BLOCK = 1024


def explore(run: ItemsetsSearchRun) -> None:
    """Pick the feature that adds most information on the label, while one does; then by weight.

    A feature is skipped for good if it may not join, or would make more than `run.unique` of the
    rows unique. Like the constraint, that limit is closed downwards. The utility orders the
    rest and scores the set. Feasible, maximal, no bound. A pick costs O(ones) if the rows have a
    million ones or fewer, else O(ones of the features looked at again). O(patterns) a feature.
    """
    left = run.candidates
    if run.worth.weights is not None:
        left = left[np.argsort(-run.worth.weights[left], kind="stable")]
    picking = FeaturePicking.of(run)
    try:
        picking.fill(picking.pick(left))
    finally:
        run.offer(run.state.features)
    run.spend(1)


def bits_added(
    state: FeasibleSet, table: Counts, sums: Counts, features: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the bits on the label that each feature would add to a set, summed over rows.

    `table` : (patterns, classes) rows of each label; `sums` : the same by the set's classes.
    """
    from voile.itemsets.kernels.joint import information_gained

    groups, _, _ = state.parts
    return information_gained(groups, state.classes, table, sums, features.astype(np.int32))


@dataclass(frozen=True, eq=False)
class FeaturePicking:
    """The set so far, and what decides whether a feature may join it."""

    run: ItemsetsSearchRun
    table: NDArray[np.int64]
    most: int
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    sums: ClassSums

    @classmethod
    def of(cls, run: ItemsetsSearchRun) -> FeaturePicking:
        rows, worth = run.rows, run.worth
        first = np.full(len(rows.own), rows.n_rows, dtype=np.int64)
        last = np.full(len(rows.own), -1, dtype=np.int64)
        np.minimum.at(first, rows.pattern, rows.person)
        np.maximum.at(last, rows.pattern, rows.person)
        counts = np.bincount(rows.pattern)
        table = counts[:, None] if worth.labels is None else worth.table
        most = int(run.unique * rows.n_rows + TINY)
        return cls(run, table, most, counts, first, last, ClassSums(run.state, table))

    def pick(self, left: Indices, *, least: float = TINY) -> Indices:
        """Add the feature of most bits, again and again, while one adds more than the `least`.

        If rows have more than a million ones, earlier bits serve as an upper bound. Features that
        reveal something only together may then be picked late. Returns the features that were
        never tried.
        """
        quick = int(self.run.rows.supports[left].sum()) <= MOST_ONES
        return pick(left, self.gains, self.join, least=least, anew=quick)

    def fill(self, left: Indices) -> None:
        """Add the features that may join, in order."""
        if self.is_limited:
            while len(left):
                left = left[self.join(left) + 1 :]
            return
        for block in np.array_split(left, len(left) // BLOCK + 1):
            self.run.state.extend(block)
            self.run.check_time()

    def gains(self, features: Indices) -> NDArray[np.float64]:
        """Return the bits that each would add, summed over rows; 0 where there are no labels."""
        return bits_added(self.run.state, self.table, self.sums(), features)

    @property
    def is_limited(self) -> bool:
        """Whether some rows may not become unique."""
        return self.most < self.run.rows.n_rows

    def join(self, features: Indices) -> int:
        """Add the first feature that may join; return how many were refused."""
        self.run.check_time()
        if not self.is_limited:
            return self.run.state.join_first(features)
        for place, x in enumerate(features):
            self.run.check_time()
            alone = self._alone(x)
            if alone <= self.most and not self.run.state.join_first(features[place : place + 1]):
                return place
        return len(features)

    def _alone(self, x: int) -> int:
        """Count the rows that would be of one subject alone, with one more feature."""
        from voile.itemsets.kernels.joint import rows_alone

        groups = self.run.rows.groups
        holders = groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]
        of, first, last = self.run.state.classes, self.first, self.last
        return int(rows_alone(of, holders, first, last, self.counts))
