"""Score policies by any two measures that are sums over groups, in NumPy.

The module implements the same five methods as the compiled kernels for eq. 2-4. The results are the
same if the measures are eq. 2-4.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.kernels.cells import CellRules, LatticeCells
from voile.tables.fitting.kernels.scorer import Bits, ChainDescent, Sums
from voile.tables.fitting.scoring.group_slabs import DenseSlabs
from voile.tables.fitting.scoring.group_sums import (
    KEPT,
    Floats,
    GroupSums,
    GroupTally,
    Ints,
    scatter_rows,
    sum_by_group,
    sum_by_place,
    sum_by_row,
)
from voile.tables.scoring.group_measures import GroupMeasure, RecordGroups, compute_values

if TYPE_CHECKING:
    from voile.tables.fitting.kernels.lattice import LatticeWalk
    from voile.tables.fitting.scoring.group_walk import GroupWalk

PIECE = 128
BATCH = 2**15
ROWS = 2**18
DENSE = 2**21


class MeasuredScorer:
    """A `PolicyScorer` of custom measures, with the columns of `GroupTally` in `more`."""

    def __init__(self, cells: LatticeCells, more: Floats, measures: GroupSums) -> None:
        self.cells = cells
        self.more = more
        self.measures = measures
        self._start = np.cumsum(cells.sizes) - cells.sizes
        self._stride = np.append(np.cumprod(cells.sizes[:0:-1])[::-1], 1).astype(np.int64)

    @classmethod
    def of(
        cls,
        cells: LatticeCells,
        source: RecordGroups,
        rules: CellRules,
        risk: GroupMeasure,
        loss: GroupMeasure,
    ) -> MeasuredScorer:
        """Build the scorer of the whole lattice. A loss is measured from the source's groups."""
        asked = rules.least_l > 0 or rules.of_shares
        parts = (source.outcomes, source.columns, source.sensitive if asked else ())
        counted = [one for part in parts for one in part]
        ends = iter(pairwise(1 + np.cumsum([0, *(one.shape[1] for one in counted)])))
        more = np.column_stack([compute_values(loss, source), *counted])
        outcomes, columns, shown = (tuple(slice(*next(ends)) for _ in part) for part in parts)
        everybody = cells.shares.columns() if asked else ()
        sensitive = tuple((own, *one) for own, one in zip(shown, everybody, strict=True))
        return cls(cells, more, GroupSums(risk, loss, rules, outcomes, columns, sensitive))

    def coarsen_lattice(self, policy: Bits) -> MeasuredScorer:
        """Return the scorer of the lattice with the groups under `policy` as its bottom."""
        coarse = self.cells.coarsen(policy)
        number, _ = self._intervals_under(policy[None])
        codes = number[0, self._start + self.cells.codes[: len(self.cells.n)]]
        # The coarse cells with subjects are in the order of their codes.
        group = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
        return MeasuredScorer(coarse, sum_by_group(self.more, group), self.measures)

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.cells.sizes

    def score(self, policies: Bits) -> Sums:
        """Score policies from scratch, many small tables at a time.

        Cost: O(cells) each.
        """
        step = max(1, ROWS // len(self.cells.p))
        parts = [self._score(policies[i : i + step]) for i in range(0, len(policies), step)]
        return np.concatenate(parts) if parts else np.zeros((0, 3))

    def _score(self, policies: Bits) -> Sums:
        cells, sampled, times = self.cells, len(self.cells.n), len(policies)
        number, width = self._intervals_under(policies)
        place, first = self._groups(number)
        policy, cell = np.divmod(first, len(cells.p))
        of = place[:, :sampled].ravel()
        tally = GroupTally(
            sum_by_place(of, np.tile(cells.n, times), len(first)),
            sum_by_place(place.ravel() + 1, np.tile(cells.p, times), len(first) + 1)[1:],
            sum_by_group(np.tile(self.more, (times, 1)), of),
        )
        widths = width[policy[:, None], self._start + cells.codes[cell]].prod(axis=1)
        return sum_by_row(policy, self.measures(tally, widths), times)

    def walk(self, start: Bits, order: NDArray[np.intp]) -> Iterator[Sums]:
        """Score a chain by merging slab by slab.

        Cost of a merge: that of the measures on the two slabs' groups.
        """
        at = self.at(start)
        for begin in range(0, len(order), PIECE):
            yield np.array([at.step(bit) for bit in order[begin : begin + PIECE]])

    def descend(
        self, start: Bits, free: Bits, *, rescue: bool, allowed: float
    ) -> Iterator[ChainDescent]:
        """Descend a chain, and keep the change of each possible merge.

        A merge changes only the pairs next to its two slabs.
        """
        at, policy, left = self.at(start), start.copy(), np.flatnonzero(start & free)
        change = at.changes()
        while len(left):
            steps: list[tuple[Bits, NDArray[np.intp], Sums]] = []
            for _ in range(min(len(left), max(1, BATCH // len(left)))):
                steps.append((policy.copy(), left, at.totals[KEPT] + change[left, KEPT]))
                best = at.steepest(change[left], rescue=rescue, allowed=allowed)
                policy[left[best]] = False
                at.merge_and_update(change, int(left[best]))
                left = np.delete(left, best)
            on_the_way, bits, sums = zip(*steps, strict=True)
            step = np.repeat(np.arange(len(bits)), [len(some) for some in bits])
            yield ChainDescent(
                np.array(on_the_way), step, np.concatenate(bits), np.concatenate(sums)
            )

    def flips(self, policies: Bits) -> Sums:
        """Score single merges and splits from tables of value by group, attribute by attribute."""
        filled = np.zeros((*policies.shape, 3))
        ends = np.cumsum(self.sizes - 1)
        for policy, sums in zip(policies, filled, strict=True):
            for d, (end, size) in enumerate(zip(ends, self.sizes, strict=True)):
                bits = slice(int(end - size + 1), int(end))
                for dense in self._dense(d, policy):
                    sums[bits] += dense.flips(policy[bits])
        return filled

    def intervals(self, attribute: int, policy: Bits, last: NDArray[np.int64]) -> Sums:
        """Score the intervals of one attribute by sums from each value on.

        Cost: O(values^2 x groups of the other attributes).
        """
        size = int(self.sizes[attribute])
        filled = np.zeros((size, size, 3))
        for dense in self._dense(attribute, policy):
            for i, end in enumerate(last):
                filled[i, i : end + 1] += dense.from_value(i, int(end))
        return filled

    def _dense(self, attribute: int, policy: Bits) -> Iterator[DenseSlabs]:
        """Yield the cells by value of one attribute and group of the others, in blocks."""
        cells, sampled = self.cells, len(self.cells.n)
        number, width = self._intervals_under(policy[None])
        value, own = cells.codes[:, attribute], self._start[attribute]
        number[:, own : own + self.sizes[attribute]] = 0
        width[:, own : own + self.sizes[attribute]] = 1.0
        [place], first = self._groups(number)
        of = place[:sampled]
        widths = width[0, self._start + cells.codes[first]].prod(axis=1)
        size = int(self.sizes[attribute])
        step = max(1, DENSE // (size * (2 + self.more.shape[1])))
        for begin in range(0, len(first), step):
            count = min(step, len(first) - begin)
            here = np.flatnonzero((of >= begin) & (of < begin + count))
            near = np.flatnonzero((place >= begin) & (place < begin + count))
            at = value[here] * count + of[here] - begin
            at_people = value[near] * count + place[near] - begin
            room = size * count
            tally = GroupTally(
                sum_by_place(at, cells.n[here], room),
                sum_by_place(at_people, cells.p[near], room),
                scatter_rows(sum_by_group(self.more[here], at), at, room),
            )
            own_width = cells.widths[own : own + size].astype(np.float64)
            yield DenseSlabs(self.measures, tally, own_width, widths[begin : begin + count])

    def at(self, policy: Bits) -> GroupWalk:
        """Return the groups of a policy, as the start of a walk."""
        from voile.tables.fitting.scoring.group_walk import GroupWalk

        return GroupWalk(self.bottom, self.more, self.measures, policy)

    @cached_property
    def bottom(self) -> LatticeWalk:
        """Return the lattice with every cell separate. Walks start from copies of it."""
        from voile.tables.fitting.kernels.lattice import lattice

        return lattice(self.cells, self.measures.rules)

    def _intervals_under(self, policies: Bits) -> tuple[Ints, Floats]:
        number = np.zeros((len(policies), len(self.cells.widths)), dtype=np.int64)
        width = np.empty(number.shape)
        rows, bit = np.arange(len(policies))[:, None], 0
        for start, size in zip(self._start, self.sizes, strict=True):
            own = slice(start, start + size)
            number[:, start + 1 : start + size] = policies[:, bit : bit + size - 1].cumsum(axis=1)
            at = (rows * size + number[:, own]).ravel()
            weights = np.tile(self.cells.widths[own], len(policies)).astype(np.float64)
            width[:, own] = sum_by_place(at, weights, len(at))[at].reshape(-1, size)
            bit += size - 1
        return number, width

    def _groups(self, number: Ints) -> tuple[Ints, Ints]:
        """Return the group of each cell, and each group's first cell. See `groups_of`."""
        from voile.tables.fitting.kernels.grouping import groups_of

        scaled = number * np.repeat(self._stride, self.sizes)
        return groups_of(self.cells.codes, len(self.cells.n), self._start, scaled)
