"""Tighten the relaxation: multipliers make all outer intervals agree on one inner partition.

The method is Lagrangian decomposition (Guignard and Kim 1987) with subgradient steps (Held, Wolfe,
Crowder 1974) and Polyak's step lengths.
"""

from __future__ import annotations

import numpy as np

from voile.tables.fitting.bounds.relaxation import (
    Bits,
    Floats,
    IntervalRelaxation,
    Ints,
    path,
    through,
    ways,
)
from voile.tables.fitting.scoring.evaluator import Policies

TRIALS = 8
STALLED = 5
SHORTER = 0.6
SHORTEST = 0.01
CLOSE = 5e-7  # relative: smaller gaps do not justify a step


class BoundAscent:
    """An ascent that raises the bounds of some pairs step by step.

    The ascent has a multiplier for each outer value and inner split point. It is added to the price
    of the split point in the outer interval of that value. The multipliers of a split point sum to
    zero over the outer values. A policy has the same split points in all outer intervals, so its
    cost does not change. Each choice of multipliers therefore gives a bound.
    """

    def __init__(
        self, relaxation: IntervalRelaxation, pairs: Ints, costs: Floats, caps: Floats
    ) -> None:
        self.pairs = pairs
        self.bounds = np.minimum(ways(costs)[0][:, -1], caps) - relaxation.rounding(pairs)
        self._relaxation = relaxation
        self._alive = through(costs) < caps[:, None, None]
        self._visited = np.zeros_like(self._alive)
        self._visit(np.arange(len(pairs)), [path(each) for each in costs])
        self._reached = self.bounds.copy()
        self._steps = 1  # all relevant intervals are already priced
        self._multipliers = np.zeros((len(pairs), relaxation.outers, relaxation.cuts))
        self._length = np.ones(len(pairs))
        self._stalled = np.zeros(len(pairs), dtype=np.int64)

    def active(self, caps: Floats) -> Ints:
        """Return the positions in `pairs` for which another step may help."""
        below = self.bounds < caps * (1 - CLOSE)
        return np.flatnonzero(below & (self._length > SHORTEST))

    def step(self, caps: Floats) -> Policies:
        """Take a step, and return a policy for each active pair from its relaxation's solution.

        Every `TRIALS` steps, all relevant intervals are priced and the bounds are raised. The steps
        in between use only intervals of the cheapest paths so far. They prove nothing, but they
        move the multipliers towards the next bounds at a fraction of the cost.
        """
        active = self.active(caps)
        pairs, caps = self.pairs[active], caps[active]
        proves = self._steps % TRIALS == 0
        self._steps += 1
        multipliers = np.pad(self._multipliers[active].cumsum(axis=1), ((0, 0), (1, 0), (0, 0)))
        among = (self._alive if proves else self._visited & self._alive)[active]
        costs = self._costs(pairs, among, multipliers)
        value = ways(costs)[0][:, -1]
        if proves:
            self._alive[active] &= through(costs) < caps[:, None, None]
            bound = np.minimum(value, caps) - self._relaxation.rounding(pairs, multipliers)
            self.bounds[active] = np.maximum(self.bounds[active], bound)
            self._reached[active] = np.minimum(self._reached[active], self.bounds[active])
        self._shorten(active, value)
        open_ = np.flatnonzero(value < caps)
        if not len(open_):
            return np.zeros((0, self._relaxation.nesting.combos.shape[1]), dtype=np.bool_)
        paths = [path(costs[k]) for k in open_]
        self._visit(active[open_], paths)
        kept = self._kept_cuts(pairs[open_], paths, multipliers[open_])
        uphill = kept - kept.mean(axis=1, keepdims=True)
        square = np.square(uphill).sum(axis=(1, 2))
        length = self._length[active[open_]] * (caps - value)[open_] / np.maximum(square, CLOSE)
        self._multipliers[active[open_]] += length[:, None, None] * uphill
        return self._round_policies(pairs[open_], paths, kept)

    def _visit(self, places: Ints, paths: list[list[tuple[int, int]]]) -> None:
        for place, one in zip(places, paths, strict=True):
            self._visited[place, *np.array(one).T] = True

    def _costs(self, pairs: Ints, among: Bits, multipliers: Floats) -> Floats:
        ends = np.argwhere(among.any(axis=0))
        member = among[:, ends[:, 0], ends[:, 1]].T
        solved = self._relaxation.solve(ends, member, pairs, multipliers)
        costs = np.full(among.shape, np.inf)
        costs[solved.pair, ends[solved.interval, 0], ends[solved.interval, 1]] = solved.cost
        return costs

    def _shorten(self, active: Ints, value: Floats) -> None:
        rises = value > self._reached[active] + CLOSE
        self._reached[active] = np.maximum(self._reached[active], value)
        self._stalled[active] = np.where(rises, 0, self._stalled[active] + 1)
        stalled = active[self._stalled[active] == STALLED]
        self._length[stalled] *= SHORTER
        self._stalled[stalled] = 0

    def _kept_cuts(
        self, pairs: Ints, paths: list[list[tuple[int, int]]], multipliers: Floats
    ) -> Floats:
        """Return which inner split points are kept at each outer value, (pairs, outers, cuts)."""
        ends = np.array(sorted({interval for one in paths for interval in one}), dtype=np.int64)
        member = np.array([[tuple(end) in set(one) for one in paths] for end in ends.tolist()])
        solved = self._relaxation.solve(ends, member, pairs, multipliers, traced=True)
        kept = np.zeros((len(pairs), self._relaxation.outers, self._relaxation.cuts))
        for interval, pair, cuts in zip(solved.interval, solved.pair, solved.cuts, strict=True):
            kept[pair, ends[interval, 0] : ends[interval, 1] + 1] = cuts
        return kept

    def _round_policies(
        self, pairs: Ints, paths: list[list[tuple[int, int]]], kept: Floats
    ) -> Policies:
        """Return policies that keep the inner split points kept for half of the subjects."""
        nesting = self._relaxation.nesting
        rows = nesting.combos[self._relaxation.combo[pairs]].copy()
        for row, one in zip(rows, paths, strict=True):
            row[[nesting.outer.start + begin - 1 for begin, _ in one[1:]]] = True
        share = nesting.subjects / nesting.subjects.sum()
        rows[:, nesting.inner] = np.einsum("pac,a->pc", kept, share) >= 0.5
        return rows
