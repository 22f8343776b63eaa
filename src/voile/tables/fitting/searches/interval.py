"""Find the best partition of one attribute at a time, by dynamic programming over its intervals."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.searches import steepest
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.searches.slopes import slopes

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import Policies

WEIGHTS = 64
PENALTIES = (0.0, 3.0)
NONE = (0.0,)
GAIN = 1e-9
INTERVALS, VALUES = 4, 8


class SearchAim(NamedTuple):
    """The sum to minimise: loss + `weight` x risk + `penalty` x suppressed share."""

    weight: float
    penalty: float

    def price(self, run: TablesSearchRun) -> NDArray[np.float64]:
        """Return the price of each of the three sums, (3,)."""
        weights = np.array([self.weight, 1.0, self.penalty])
        units = np.array(run.evaluator.units)
        price: NDArray[np.float64] = np.divide(weights, units, out=np.zeros(3), where=units > 0)
        return price


class LatticeAttribute(NamedTuple):
    """One attribute of the lattice that a run may use.

    `number` is its position among the attributes, and `bits` its position in a policy. `last[i]` is
    the last value of the longest interval that begins at value i and crosses no required split
    point.
    """

    number: int
    bits: slice
    last: NDArray[np.int64]

    def near(self, policy: Policies) -> LatticeAttribute:
        """Return the attribute with intervals of at most four of the policy's, or eight values."""
        values = np.arange(len(self.last))
        ends = np.append(np.flatnonzero(policy[self.bits]), len(values) - 1)
        fourth = np.minimum(np.searchsorted(ends, values) + INTERVALS - 1, len(ends) - 1)
        return self._replace(
            last=np.minimum(self.last, np.maximum(ends[fourth], values + VALUES - 1))
        )


def explore(run: TablesSearchRun) -> None:
    """Start from the steepest chain, and improve one attribute at a time for each weight.

    With a fixed partition of the other attributes, risk, loss and suppression are sums over the
    intervals of one attribute. Its best partition for a weight is therefore a shortest path. The
    best partition with each interval is scored as well, as one evaluation. The result is not
    jointly optimal.
    """
    steepest.explore(run)
    attributes = attributes_of(run)
    seen: set[float] = set()
    for weight in islice(slopes(run), WEIGHTS):
        if weight in seen:  # the hull is unchanged there, so the result would be the same
            continue
        seen.add(weight)
        for penalty in penalties(run):
            aim = SearchAim(weight, penalty)
            _, policy = settle(run, attributes, run.best_for(weight), aim, near=True)
            settle(run, attributes, policy, aim)


def penalties(run: TablesSearchRun) -> tuple[float, ...]:
    """Return the penalties on suppression to try: several, if records may be suppressed."""
    return PENALTIES if run.evaluator.rules.active else NONE


def attributes_of(run: TablesSearchRun) -> list[LatticeAttribute]:
    """Return the attributes that have a free split point."""
    made = []
    ends = np.cumsum(run.scorer.sizes - 1)
    for d, size in enumerate(run.scorer.sizes):
        bits = slice(int(ends[d] - size + 1), int(ends[d]))
        required = np.append(np.flatnonzero(run.required[bits]), size - 1)
        if not run.required[bits].all():
            last = required[np.searchsorted(required, np.arange(size))]
            made.append(LatticeAttribute(d, bits, last))
    return made


def settle(
    run: TablesSearchRun,
    attributes: list[LatticeAttribute],
    policy: Policies,
    aim: SearchAim,
    *,
    near: bool = False,
) -> tuple[float, Policies]:
    """Improve one attribute after another until none can be improved.

    Returns
    -------
    cost, policy : the cost and the policy at the end.
    """
    best, settled = np.inf, 0
    while settled < len(attributes):
        for attribute in attributes:
            among = attribute.near(policy) if near else attribute
            value, policy = improve_attribute(run, among, policy, aim)
            settled = 0 if value < best - GAIN * (1 + abs(value)) else settled
            best, settled = min(best, value), settled + 1
            if settled == len(attributes):
                break
    return best, policy


def improve_attribute(
    run: TablesSearchRun, attribute: LatticeAttribute, policy: Policies, aim: SearchAim
) -> tuple[float, Policies]:
    """Return the policy with one attribute's best partition, the others fixed, and its cost."""
    from voile.tables.fitting.kernels.shortest import paths, shortest, through

    last, price = attribute.last, aim.price(run)
    cost = run.scorer.intervals(attribute.number, policy, last)
    below, above, before, after = shortest(cost, last, price)
    sums, ends = through(cost, last, below, above)

    def rows(which: NDArray[np.intp]) -> Policies:
        made = np.tile(policy, (len(which), 1))
        made[:, attribute.bits] = paths(before, after, ends[which])
        return made

    run.add(run.evaluator.normalise(sums), rows)
    made = policy.copy()
    made[attribute.bits] = paths(before, after, np.array([[before[-1], len(last) - 1]]))[0]
    return float((below[-1] * price).sum()), made
