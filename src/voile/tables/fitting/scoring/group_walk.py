"""Walk from a policy towards the top, and update the sums of each group and of each merge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.kernels import slabs
from voile.tables.fitting.kernels.lattice import LatticeWalk, N
from voile.tables.fitting.scoring.group_sums import (
    KEPT,
    PLAIN_LOSS,
    PLAIN_RISK,
    SUPPRESSED,
    Floats,
    GroupSums,
    GroupTally,
    Ints,
)

PIECE = 2**14
TINY = 1e-12


class GroupWalk:
    """The groups of one policy, and their five sums.

    `more` and `sums` have a row for each cell of the bottom with subjects. The row of a cell that
    was merged into another cell is no longer used. `totals` are the sums over all groups.
    """

    def __init__(
        self, bottom: LatticeWalk, more: Floats, measures: GroupSums, policy: NDArray[np.bool_]
    ) -> None:
        self._measures = measures
        self._at = bottom.copy()
        self._more = more.copy()
        for bit in np.flatnonzero(~policy):
            self._merge(int(bit))
        self.sums = np.zeros((len(self._more), 5))
        groups = np.flatnonzero(self._at.key[: self._at.sampled] >= 0)
        self.sums[groups] = self._of(groups)
        self.totals = self.sums.sum(axis=0)

    def step(self, bit: int) -> Floats:
        """Merge at a kept split point, and return the kept sums and the suppressed subjects."""
        before, after, _ = self._merge(bit)
        self._count(before, after)
        kept: Floats = self.totals[KEPT].copy()
        return kept

    def changes(self) -> Floats:
        """Return the changes of the five sums by merging at each kept split point, (n_bits, 5)."""
        change = np.zeros((int((self._at.sizes - 1).sum()), 5))
        groups = np.flatnonzero(self._at.key[: self._at.sampled] >= 0)
        self._touch(change, groups, np.ones((len(self._at.sizes), 2), dtype=np.bool_), 1.0)
        return change

    def steepest(self, change: Floats, *, rescue: bool, allowed: float) -> int:
        """Return the change that removes the most risk for its loss, free changes first."""
        dropped = self.totals[SUPPRESSED]
        taken = -change[:, PLAIN_RISK]
        if rescue and dropped > allowed:
            risk = self.totals[PLAIN_RISK]
            taken = taken / (risk if risk > 0 else 1.0) - change[:, SUPPRESSED] / dropped
        tiny = TINY * self._measures.rules.wholly_lost * self._at.cell[:, N].sum()
        cost = change[:, PLAIN_LOSS]
        free = cost <= tiny
        return int(np.argmax(np.where(free, np.inf, taken / np.where(free, 1.0, cost))))

    def merge_and_update(self, change: Floats, bit: int) -> None:
        """Merge at `bit`, and update only the changes of pairs next to the two slabs.

        Along the other attributes, the pairs of both slabs' groups are updated, before and after.
        Along the merged attribute, the pairs of intervals on both sides are recomputed.
        """
        sides = np.ones((len(self._at.sizes), 2), dtype=np.bool_)
        d = slabs.attribute_of(self._at, bit)
        sides[d] = False
        self._touch(change, np.concatenate(slabs.left_and_right(self._at, bit)), sides, -1.0)
        before, after, beside = self._merge(bit)
        self._count(before, after)
        self._touch(change, after, sides, 1.0)
        for cut in beside:
            change[cut] = 0.0
            for side, groups in enumerate(slabs.left_and_right(self._at, cut)):
                sides[:] = False
                sides[d, 1 - side] = True
                self._touch(change, groups, sides, 1.0)

    def _merge(self, bit: int) -> tuple[Ints, Ints, Ints]:
        """Merge at `bit`, and return the slabs' groups before and after, and neighbouring bits."""
        left, right = slabs.left_and_right(self._at, bit)
        before = np.concatenate([left, right])
        into, beside = slabs.merge_slabs(self._at, bit, left, right)
        moved = into != before
        self._more[into[moved]] += self._more[before[moved]]
        return before, before[~moved], beside

    def _count(self, before: Ints, after: Ints) -> None:
        self.totals -= self.sums[before].sum(axis=0)
        self.sums[after] = self._of(after)
        self.totals += self.sums[after].sum(axis=0)

    def _of(self, groups: Ints) -> Floats:
        at = self._at
        tally = GroupTally(at.cell[groups, N], at.p[groups], self._more[groups])
        return self._measures(tally, slabs.widths(at, groups))

    def _touch(self, change: Floats, groups: Ints, sides: NDArray[np.bool_], sign: float) -> None:
        """Add to `change` (or, with sign -1, subtract) the pairs that contain the given groups."""
        at = self._at
        for begin in range(0, len(groups), PIECE):
            one, other, bits, width = slabs.pairs(at, groups[begin : begin + PIECE], sides)
            made = self._measures(self._join_cells(one, other), width) - self.sums[one]
            both = (other >= 0) & (other < at.sampled)
            made[both] -= self.sums[other[both]]
            for k, part in enumerate(made.T):
                change[:, k] += sign * np.bincount(bits, part, len(change))

    def _join_cells(self, one: Ints, other: Ints) -> GroupTally:
        """Return the joint tally of pairs of cells. `other` may be -1, or have people only."""
        at = self._at
        n, people, more = at.cell[one, N], at.p[one], self._more[one]
        near = np.flatnonzero(other >= 0)
        people[near] += at.p[other[near]]
        both = np.flatnonzero((other >= 0) & (other < at.sampled))
        n[both] += at.cell[other[both], N]
        more[both] += self._more[other[both]]
        return GroupTally(n, people, more)
