"""Price only the outer intervals that may affect the bound."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from voile.tables.fitting.bounds.relaxation import Bits, Floats, IntervalRelaxation, through

BATCH = 64
EAGER = 0.01  # share of the way from cheapest path to cap within which intervals are priced


def price_intervals(relaxation: IntervalRelaxation, caps: Floats) -> Iterator[Floats]:
    """Yield increasing lower bounds on the cost of each outer interval, (pairs, outers, outers).

    Guarantee: the cheapest path is a lower bound. At the end it is the relaxation's exact optimum,
    if it is below its cap.
    """
    pairs = np.arange(len(relaxation))
    costs = relaxation.least()
    unpriced = relaxation.allowed.copy()
    yield costs
    while True:
        near, alive = _near_the_path(costs, caps)
        ends = np.argwhere(near & unpriced)
        if not len(ends):
            return
        for begin in range(0, len(ends), BATCH):
            some = ends[begin : begin + BATCH]
            solved = relaxation.solve(some, alive[:, some[:, 0], some[:, 1]].T, pairs)
            costs[solved.pair, some[solved.interval, 0], some[solved.interval, 1]] = solved.cost
            yield costs
        unpriced[ends[:, 0], ends[:, 1]] = False


def _near_the_path(costs: Floats, caps: Floats) -> tuple[Bits, Bits]:
    """Return intervals near some pair's cheapest path, and the pairs for which each may matter.

    An interval that does not matter for a pair now never will, since its paths only become more
    expensive.
    """
    found = through(costs)
    least = found.min(axis=(1, 2))
    limit = np.full(len(least), -np.inf)
    below = least < caps
    limit[below] = least[below] + EAGER * (caps[below] - least[below])
    return np.asarray((found < limit[:, None, None]).any(axis=0)), found < caps[:, None, None]
