"""Greedy search by the information that features reveal together, with few unique rows.

A feature that reveals much alone may add nothing to the chosen features, but still makes rows
unique. Each pick is therefore the feature that adds most to the chosen ones.
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
    """Repeatedly add the feature with the most additional information on the label, then by weight.

    A feature is skipped permanently if it may not join, or if more than the share `run.unique` of
    the rows would become unique. Every subset of a set within that limit is within it too. The
    utility orders the remaining features and scores the set. The set is feasible and maximal. There
    is no bound.

    A pick costs O(ones) if the rows have at most a million ones. Otherwise, it costs O(ones of the
    reexamined features). With a limit of unique rows, each feature costs O(patterns).
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
    """Return the bits of the label that each feature would add to a set, summed over the rows.

    `table` : (patterns, classes) rows of each label. `sums` : the same by the classes of the set.
    """
    from voile.itemsets.kernels.joint import information_gained

    groups, _, _ = state.parts
    return information_gained(groups, state.classes, table, sums, features.astype(np.int32))


@dataclass(frozen=True, eq=False)
class FeaturePicking:
    """The current set, and the data that decide whether a feature may join it."""

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
        """Repeatedly add the feature with the most bits, as long as it adds more than `least`.

        If the rows have more than a million ones, earlier gains are used as upper bounds. Features
        that reveal information only together may then be picked late. Returns the features that
        were never tried.
        """
        quick = int(self.run.rows.supports[left].sum()) <= MOST_ONES
        return pick(left, self.gains, self.join, least=least, anew=quick)

    def fill(self, left: Indices) -> None:
        """Add the features of `left` that may join, in order."""
        if self.is_limited:
            while len(left):
                left = left[self.join(left) + 1 :]
            return
        for block in np.array_split(left, len(left) // BLOCK + 1):
            self.run.state.extend(block)
            self.run.check_time()

    def gains(self, features: Indices) -> NDArray[np.float64]:
        """Return the bits that each feature would add, summed over the rows. 0 without labels."""
        return bits_added(self.run.state, self.table, self.sums(), features)

    @property
    def is_limited(self) -> bool:
        """Whether the number of unique rows is limited."""
        return self.most < self.run.rows.n_rows

    def join(self, features: Indices) -> int:
        """Add the first feature that may join. Return the number of refused features."""
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
        """Count the rows in classes of a single subject if one more feature is shared."""
        from voile.itemsets.kernels.joint import rows_alone

        groups = self.run.rows.groups
        holders = groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]
        of, first, last = self.run.state.classes, self.first, self.last
        return int(rows_alone(of, holders, first, last, self.counts))
