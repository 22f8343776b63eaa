"""The best partition of one attribute at a time, by dynamic programming over its intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.tables.searches import steepest
from voile.tables.searches.run import Run

if TYPE_CHECKING:
    from voile.tables.evaluator import Policies

LEAST_WEIGHT, MOST_WEIGHT = 0.03, 3e3
WEIGHTS = 64
PENALTIES = (0.0, 1.0, 1e3)
NONE = (0.0,)
GAIN = 1e-9


class Aim(NamedTuple):
    """What to make small: loss + `weight` x relative risk + `penalty` x share suppressed."""

    weight: float
    penalty: float


class Attribute(NamedTuple):
    """One attribute of the lattice a run may use.

    `number`, its place among the attributes; `bits`, in a policy; `last[i]`, the last value of
    the longest interval that begins at value i and goes over no required cut.
    """

    number: int
    bits: slice
    last: NDArray[np.int64]


def explore(run: Run) -> None:
    """Start from the steepest chain; settle, weight after weight, on what no attribute improves.

    With the other attributes' partition fixed, risk, loss and suppression are sums over the
    intervals of one attribute, so its best partition for a weight is a shortest path. For every
    interval the best partition that has it is scored as well, and counted: one evaluation an
    interval, values (values + 1) / 2 for each attribute gone through. Each weight starts from
    the best policy that any other weight found for it.

    Guarantee: no single attribute's partition can be bettered for the weights gone through; the
    policies are not jointly optimal. Cost: O(values x cells) for each attribute and step.
    """
    steepest.explore(run)
    attributes = attributes_of(run)
    for weight in weights(WEIGHTS):
        settle_all(run, attributes, weight)


def weights(count: int) -> Iterator[float]:
    """Yield weights from all over the range, evenly in log; later ones fall between earlier.

    >>> [f"{weight:.3g}" for weight in weights(4)]
    ['9.49', '0.533', '169', '0.127']
    """
    span = np.log(MOST_WEIGHT / LEAST_WEIGHT)
    for number in range(1, count + 1):
        place, half = 0.0, 0.5
        while number:
            place, half, number = place + half * (number % 2), half / 2, number // 2
        yield float(LEAST_WEIGHT * np.exp(span * place))


def attributes_of(run: Run) -> list[Attribute]:
    """Return the attributes that have a cut to choose."""
    made = []
    ends = np.cumsum(run.scorer.sizes - 1)
    for d, size in enumerate(run.scorer.sizes):
        bits = slice(int(ends[d] - size + 1), int(ends[d]))
        required = np.append(np.flatnonzero(run.required[bits]), size - 1)
        if not run.required[bits].all():
            last = required[np.searchsorted(required, np.arange(size))]
            made.append(Attribute(d, bits, last))
    return made


def settle_all(run: Run, attributes: list[Attribute], weight: float) -> list[Policies]:
    """Settle for one weight; where records may be suppressed, with several penalties for it."""
    penalties = PENALTIES if run.evaluator.rules.active else NONE
    return [settle(run, attributes, Aim(weight, penalty)) for penalty in penalties]


def settle(run: Run, attributes: list[Attribute], aim: Aim) -> Policies:
    """Better one attribute after another until none can be; return the policy, (n_bits,) bool.

    Starts from the best policy found for the weight.
    """
    policy = best_for(run, aim.weight)
    best, settled = np.inf, 0
    while settled < len(attributes):
        for attribute in attributes:
            value, policy = better(run, attribute, policy, aim)
            settled = 0 if value < best - GAIN * (1 + abs(value)) else settled
            best, settled = min(best, value), settled + 1
            if settled == len(attributes):
                break
    return policy


def best_for(run: Run, weight: float) -> Policies:
    """Return the policy found with the least loss + weight x relative risk, (n_bits,) bool."""
    found = run.frontier()
    best = int(np.argmin(found.loss + weight * found.risk))
    policy: Policies = found.policies[best, ~run.evaluator.forbidden]
    return policy


def better(run: Run, attribute: Attribute, policy: Policies, aim: Aim) -> tuple[float, Policies]:
    """Return the best partition of one attribute with the others' fixed, and what it costs.

    Scores, for every interval, the best partition that has it.
    """
    from voile.tables.kernels.interval import paths, shortest, through

    evaluator, last = run.evaluator, attribute.last
    most = evaluator.rules.wholly_lost * evaluator.subjects
    price = np.array(
        [
            aim.weight / evaluator.matches,
            1 / most if most > 0 else 0.0,
            aim.penalty / evaluator.subjects,
        ]
    )
    cost = run.scorer.intervals(attribute.number, policy, last)
    below, above, before, after = shortest(cost, last, price)
    sums, ends = through(cost, last, below, above)

    def rows(which: NDArray[np.intp]) -> Policies:
        made = np.tile(policy, (len(which), 1))
        made[:, attribute.bits] = paths(before, after, ends[which])
        return made

    values = sums @ price
    best = int(np.argmin(values))
    run.add(evaluator.normalised(sums), rows)
    return float(values[best]), rows(np.array([best]))[0]
