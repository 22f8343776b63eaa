"""Bound loss + w risk from below: each outer interval may have its own inner partition.

Every policy is feasible in this relaxation, so its optimum is a lower bound. The optimum is a
shortest path over the outer intervals. The cost of an interval is a shortest path over the inner
ones, for each partition of the other attributes.
"""

from __future__ import annotations

import itertools
import math
import time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.bounds.nesting import LatticeNesting
from voile.tables.fitting.kernels.cells import SLACK
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BATCH = 16
FREE = 1e-300  # negligible, but an infinite cost stays infinite
EPSILON = float(np.finfo(np.float64).eps)
NO_MULTIPLIERS: Floats = np.zeros((0, 0, 0))


class SecondsUsed(Exception):  # noqa: N818, it ends the proof and is not an error
    """Signal that the time limit is reached."""


class SolvedIntervals(NamedTuple):
    """The costs of outer intervals: one row for each requested `interval` and `pair`."""

    interval: Ints
    pair: Ints
    cost: Floats
    cuts: Bits


class IntervalRelaxation:
    """The costs of outer intervals, for pairs of a weight and a partition of other attributes.

    Pair p has combo p // weights and weight p % weights. Costs are in units of normalised loss.
    They are >= 0 without multipliers.
    """

    def __init__(
        self, nesting: LatticeNesting, evaluator: PolicyEvaluator, weights: Floats, deadline: float
    ) -> None:
        self.nesting = nesting
        self.weights = weights
        self.rules = evaluator.rules
        self.outers, self.cuts = len(nesting.last), len(nesting.nest.inner_width) - 1
        self.combo = np.repeat(np.arange(len(nesting.combos)), len(weights))
        self.weight = np.tile(np.arange(len(weights)), len(nesting.combos))
        place = np.arange(self.outers)
        self.allowed: Bits = (place[:, None] <= place) & (place <= nesting.last[:, None])
        risk, loss, subjects = evaluator.units
        unit = 1 / loss if loss > 0 else FREE
        of_risk = weights / risk if risk > 0 else np.full(len(weights), FREE)
        self._price = np.stack([of_risk, np.full(len(weights), unit)], axis=1)
        self._dropped = (evaluator.constraints.suppress + 2 * SLACK) * subjects
        self._deadline = deadline
        logs = math.log(subjects + 1) + float(np.log(evaluator.cells.sizes).sum())
        self._nats = 2 * subjects * (logs + 1) * unit + 1

    def __len__(self) -> int:
        return len(self.combo)

    def rounding(self, pairs: Ints, multipliers: Floats = NO_MULTIPLIERS) -> Floats:
        """Return an upper bound on how much rounding can raise the bounds of these pairs.

        All sums have terms >= 0, or multipliers. The error of a sum of m terms is therefore at most
        m epsilon times the sum of their absolute values. A policy's risk is at most 1, and the sum
        of its terms of nats is at most `_nats`.
        """
        steps = len(self.nesting.nest.n) + 2 * (self.outers + self.cuts) + 32
        sizes = self.weights[self.weight[pairs]] + self._nats
        if len(multipliers):
            sizes = sizes + 2 * np.abs(np.diff(multipliers, axis=1)).sum(axis=(1, 2))
        found: Floats = 4 * EPSILON * steps * sizes
        return found

    def solve(
        self,
        ends: Ints,
        member: Bits,
        pairs: Ints,
        multipliers: Floats = NO_MULTIPLIERS,
        *,
        traced: bool = False,
    ) -> SolvedIntervals:
        """Price outer intervals, each for the pairs in `member`."""
        from voile.tables.fitting.kernels.nested import BoundJobs, solve_nested

        # Contiguous, since kernels are compiled again for any other layout.
        ends = np.ascontiguousarray(ends)
        interval, pair = (np.ascontiguousarray(each) for each in np.nonzero(member))
        cost, cuts = np.empty(len(pair)), np.zeros((len(pair) if traced else 0, self.cuts), bool)
        combo, price = self.combo[pairs], self._price[self.weight[pairs]]
        edges = np.searchsorted(interval, np.arange(len(ends) + 1))
        for begin, end in _batches(ends):
            rows = slice(edges[begin], edges[end])
            start = edges[begin : end + 1] - edges[begin]
            jobs = BoundJobs(ends[begin:end], start, pair[rows], combo, price, multipliers)
            if rows.start < rows.stop:
                solve_nested(
                    self.nesting.nest, self.rules, self._dropped, jobs, cost[rows], cuts[rows]
                )
            self._stop_if_late()
        return SolvedIntervals(interval, pair, cost, cuts)

    def least(self) -> Floats:
        """Return lower bounds on intervals' costs, (pairs, outers, outers), infinite if forbidden.

        The risk is that without inner split points, and the nats are those with all of them. Both
        are 0 if records may be suppressed.
        """
        from voile.tables.fitting.kernels.nested import extremes

        self._stop_if_late()
        nest, price = self.nesting.nest, self._price[self.weight]
        costs = np.where(self.allowed, 0.0, np.inf)[None].repeat(len(self), axis=0)
        if not self.rules.active:
            risk, nats = np.zeros((2, len(nest.box_log_width), *self.allowed.shape))
            extremes(nest, self.rules, risk, nats)
            at = nest.combo_start[:-1]
            of_risk, of_nats = (
                np.add.reduceat(x[nest.combo], at)[self.combo] for x in (risk, nats)
            )
            costs += price[:, 0, None, None] * of_risk + price[:, 1, None, None] * of_nats
        return costs

    def _stop_if_late(self) -> None:
        if time.monotonic() > self._deadline:
            raise SecondsUsed


def _batches(ends: Ints) -> list[tuple[int, int]]:
    """Split the intervals where the first value changes, and in blocks of at most `BATCH`."""
    edges = [0, *(np.flatnonzero(np.diff(ends[:, 0])) + 1).tolist(), len(ends)]
    return [
        (at, min(at + BATCH, after))
        for begin, after in itertools.pairwise(edges)
        for at in range(begin, after, BATCH)
    ]


def ways(costs: Floats) -> tuple[Floats, Floats]:
    """Return the cheapest path's cost up to each outer value, and from each value on."""
    pairs, outers = costs.shape[:2]
    below, above = np.zeros((pairs, outers + 1)), np.zeros((pairs, outers + 1))
    for end in range(1, outers + 1):
        below[:, end] = (below[:, :end] + costs[:, :end, end - 1]).min(axis=1)
    for begin in range(outers - 1, -1, -1):
        above[:, begin] = (costs[:, begin, begin:] + above[:, begin + 1 :]).min(axis=1)
    return below, above


def through(costs: Floats) -> Floats:
    """Return the cost of the cheapest path through each interval, (pairs, outers, outers)."""
    below, above = ways(costs)
    found: Floats = below[:, :-1, None] + costs + above[:, None, 1:]
    return found


def path(costs: Floats) -> list[tuple[int, int]]:
    """Return the intervals (begin, last) of the cheapest path of one pair, (outers, outers)."""
    below = ways(costs[None])[0][0]
    end, found = len(costs), []
    while end > 0:
        begin = int(np.argmin(below[:end] + costs[:end, end - 1]))
        found.append((begin, end - 1))
        end = begin
    return found[::-1]
