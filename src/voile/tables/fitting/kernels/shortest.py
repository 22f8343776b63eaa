"""Find the cheapest partitions of one attribute from the cost of each of its intervals."""

from __future__ import annotations

import numpy as np

from voile.core.compiled import bare, compile_kernel
from voile.tables.fitting.kernels.interval import Bits, Floats, Ints


@bare
def worth(cost: Floats, i: int, j: int, price: Floats) -> float:
    """Return the three sums of an interval as one weighted number."""
    return float(cost[i, j, 0] * price[0] + cost[i, j, 1] * price[1] + cost[i, j, 2] * price[2])


@compile_kernel
def shortest(cost: Floats, last: Ints, price: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Find the cheapest partition before and after each value, as shortest paths both ways.

    `price` (3,) contains the weights of the sums. Row i of the first and second result, (values +
    1, 3), contains the sums of the best partition of the values below i and from i on. The third
    result is the beginning of the last interval of the former. The fourth is the end of the first
    interval of the latter, plus 1.
    """
    values = len(last)
    below, above = np.zeros((values + 1, 3)), np.zeros((values + 1, 3))
    before, after = np.zeros(values + 1, dtype=np.int64), np.zeros(values + 1, dtype=np.int64)
    best = np.full(values + 1, np.inf)
    best[0] = 0.0
    for i in range(values):
        for j in range(i, last[i] + 1):
            way = best[i] + worth(cost, i, j, price)
            if way < best[j + 1]:
                best[j + 1], before[j + 1] = way, i
    best[:] = np.inf
    best[values] = 0.0
    for i in range(values - 1, -1, -1):
        for j in range(i, last[i] + 1):
            way = best[j + 1] + worth(cost, i, j, price)
            if way < best[i]:
                best[i], after[i] = way, j + 1
    for i in range(1, values + 1):
        below[i] = below[before[i]] + cost[before[i], i - 1]
    for i in range(values - 1, -1, -1):
        above[i] = above[after[i]] + cost[i, after[i] - 1]
    return below, above, before, after


@compile_kernel
def through(cost: Floats, last: Ints, below: Floats, above: Floats) -> tuple[Floats, Ints]:
    """Score, for every interval, the best partition that contains it: sums (m, 3), ends (m, 2)."""
    made = 0
    for i in range(len(last)):
        made += last[i] + 1 - i
    sums, ends = np.empty((made, 3)), np.empty((made, 2), dtype=np.int64)
    made = 0
    for i in range(len(last)):
        for j in range(i, last[i] + 1):
            for k in range(3):
                sums[made, k] = below[i, k] + cost[i, j, k] + above[j + 1, k]
            ends[made, 0], ends[made, 1] = i, j
            made += 1
    return sums, ends


@compile_kernel
def paths(before: Ints, after: Ints, ends: Ints) -> Bits:
    """Return the split points of the best partitions that contain the intervals `ends`."""
    values = len(before) - 1
    rows = np.zeros((len(ends), values - 1), dtype=np.bool_)
    for k in range(len(ends)):
        i, j = ends[k, 0], ends[k, 1] + 1
        while i > 0:
            rows[k, i - 1] = True
            i = before[i]
        while j < values:
            rows[k, j - 1] = True
            j = after[j]
    return rows
