"""Score policies with the compiled kernels: eq. 2-4 over the cells of one lattice."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.kernels import interval, scratch, walk
from voile.tables.fitting.kernels.cell_sums import sum_cells
from voile.tables.fitting.kernels.cells import CellRules, LatticeCells
from voile.tables.fitting.kernels.lattice import LatticeWalk, lattice
from voile.tables.fitting.kernels.scorer import FIGURES, Bits, ChainDescent, Sums

PIECE = 128
BATCH = 2**15
FEW = 8  # up to this many split points, scoring from scratch is faster


class CompiledScorer:
    """A `PolicyScorer` with the cells sorted by each attribute, and a lattice at the bottom."""

    def __init__(self, cells: LatticeCells, rules: CellRules) -> None:
        self.cells = cells
        self.rules = rules
        self.by_lead = cache(lambda lead: scratch.by_lead(cells, lead))

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.cells.sizes

    @cached_property
    def _bottom(self) -> LatticeWalk:
        return lattice(self.cells, self.rules)

    def score(self, policies: Bits) -> Sums:
        """Score policies from scratch.

        Cost: O(cells + combinations of all attributes except one) each.
        """
        return scratch.score(self.by_lead(None), self.rules, policies)[:, :3]

    def score_bottom(self) -> Sums:
        """Score the policy that keeps every split point, (1, 3).

        Cost: O(cells + details), without sorting.
        """
        if self.rules.least_l > 0 or self.rules.of_shares:
            return self.score(np.ones((1, self.cells.n_bits), dtype=np.bool_))
        return sum_cells(self.cells, self.rules)[None, :3]

    def figures(self, policies: Bits) -> Sums:
        """Return the sums and the other figures of `scratch` for each policy, (m, 6).

        Rounding may differ from `score`. Policies that share the partition of all attributes except
        one are scored together. Many policies of a frontier do. The shared part of two neighbours
        is summed once.
        """
        cells = self.by_lead(None)
        first = int((self.sizes[: cells.lead] - 1).sum())
        others = policies.copy()
        others[:, first : first + int(self.sizes[cells.lead]) - 1] = False
        _, which = np.unique(np.packbits(others, axis=1), axis=0, return_inverse=True)
        sums = np.empty((len(policies), FIGURES))
        for same in np.split(np.argsort(which, kind="stable"), np.cumsum(np.bincount(which))[:-1]):
            sums[same] = scratch.score_alike(cells, self.rules, policies[same])
        return sums

    def walk(self, start: Bits, order: NDArray[np.intp]) -> Iterator[Sums]:
        """Score a chain by merging cell by cell.

        Cost of a chain: O(cells log cells) for each attribute.
        """
        at = self._at(start)
        for begin in range(0, len(order), PIECE):
            sums = np.empty((len(order[begin : begin + PIECE]), 3))
            walk.follow(at, order[begin : begin + PIECE], sums)
            yield sums

    def descend(
        self, start: Bits, free: Bits, *, rescue: bool, allowed: float
    ) -> Iterator[ChainDescent]:
        """Descend a chain, and keep the change of each possible merge.

        A merge changes only the pairs next to its two slabs.
        """
        at, open_bits, policy = self._at(start), start & free, start
        change = walk.changes(at)
        guide = walk.BY_BOTH if rescue else walk.BY_RISK
        while (left := int(open_bits.sum())) > 0:
            steps = min(left, max(1, BATCH // left))
            sums, merged = np.empty((steps * left, 3)), np.empty(steps, dtype=np.int32)
            count, bits = walk.descend(at, change, open_bits, guide, allowed, steps, sums, merged)
            on_the_way = np.tile(policy, (steps, 1))
            on_the_way[:, merged] = ~np.tri(steps, k=-1, dtype=np.bool_)
            step = np.repeat(np.arange(steps), left - np.arange(steps))
            yield ChainDescent(on_the_way, step, bits[:count], sums[:count])
            policy = on_the_way[-1].copy()
            policy[merged[-1]] = False

    def flips(self, policies: Bits) -> Sums:
        """Score all single merges and splits from each policy's own cells.

        Cost: O(attributes x cells).
        """
        sums = np.empty((*policies.shape, 3))
        ends = np.cumsum(self.sizes - 1)
        for policy, filled in zip(policies, sums, strict=True):
            for d, (end, size) in enumerate(zip(ends, self.sizes, strict=True)):
                bits = slice(end - size + 1, end)
                if size > FEW + 1:
                    interval.flips(self.by_lead(d), self.rules, policy, filled[bits])
                else:
                    filled[bits] = self.score(policy ^ np.eye(len(policy), dtype=np.bool_)[bits])
        return sums

    def intervals(self, attribute: int, policy: Bits, last: NDArray[np.int64]) -> Sums:
        """Score the intervals of one attribute value by value.

        Cost: O(values x cells).
        """
        return interval.score_intervals(self.by_lead(attribute), self.rules, policy, last)

    def _at(self, policy: Bits) -> LatticeWalk:
        at, merged = self._bottom.copy(), np.flatnonzero(~policy)
        if len(merged):
            walk.follow(at, merged, np.empty((len(merged), 3)))
        return at
