"""Represent sets of values of columns without an order as bits, and find the best split of one."""

from __future__ import annotations

import math

from voile.core.compiled import bare
from voile.tables.fitting.trees.kernels.sums import n_log_n, risk_added, weights_of
from voile.tables.trees.kernels.diverse import add_row, is_diverse
from voile.tables.trees.kernels.inputs import (
    AllowedBoxes,
    BoxScratch,
    CutWorth,
    Floats,
    GrowingBox,
    SamplePeople,
    SensitiveRows,
)
from voile.tables.trees.kernels.place import has


@bare
def size_of(values: int) -> int:
    """Return the number of values of a set."""
    found = 0
    while values:
        values &= values - 1
        found += 1
    return found


@bare
def width_of(box: GrowingBox, j: int, allowed: AllowedBoxes) -> int:
    """Return the number of values of a column in a node."""
    return size_of(box.inside[j]) if allowed.free[j] else box.high[j] - box.low[j] + 1


@bare
def set_from(i: int, j: int, box: GrowingBox, scratch: BoxScratch) -> int:
    """Return the i-th observed value in the node, with the unobserved values after it.

    The first observed value also takes the unobserved ones before it. Their side therefore depends
    only on the order of the domain.
    """
    begin = box.low[j] if i == scratch.until[j] else scratch.at[i]
    end = scratch.at[i + 1] if i + 1 < scratch.until[j + 1] else box.high[j] + 1
    return int(((1 << end) - (1 << begin)) & box.inside[j])


@bare
def people_of(values: int, j: int, box: GrowingBox, begin: int, crowd: Floats) -> float:
    """Return the number of people with the values of a set."""
    total = 0.0
    for v in range(box.low[j], box.high[j] + 1):
        if has(values, v):
            total += crowd[begin + v] - (crowd[begin + v - 1] if v > box.low[j] else 0.0)
    return total


@bare
def best_set(
    people: SamplePeople,
    worth: CutWorth,
    allowed: AllowedBoxes,
    sensitive: SensitiveRows,
    box: GrowingBox,
    scratch: BoxScratch,
    j: int,
    best: float,
) -> tuple[float, int]:
    """Return the best division of a column's values into two sets, if it gains more than `best`.

    The search is exact: it tries every set of the observed values. Cost: O(2^values).

    Returns
    -------
    gain, values : the gain and the values of the first child.
    """
    n, log, table = box.figures[0], worth.log, worth.n_log_n
    spread, logs = weights_of(worth, box, j)
    width, found = size_of(box.inside[j]), 0
    whole = n * log[width] * spread - n_log_n(n, table) * logs
    for chosen in range(1, 1 << (scratch.until[j + 1] - scratch.until[j] - 1)):
        left, values = chosen_of(chosen, j, box, scratch)
        right, size = n - left, size_of(values)
        if min(left, right) < allowed.least_n:
            continue
        apart = (n_log_n(left, table) + n_log_n(right, table)) * logs
        wide = left * log[size] + right * log[width - size]
        gain = whole - wide * spread + apart
        if gain <= best:  # the increase of risk can only lower the gain
            continue
        below = left * people.factor
        if people.factor == 0.0:
            below = people_of(values, j, box, allowed.start[j], scratch.crowd)
        added = risk_added(box, left, below, allowed.least_g)
        if math.isinf(added) or gain - worth.risk * added <= best:
            continue
        if not len(sensitive.whole) or sets_are_diverse(people, box, j, values, sensitive, scratch):
            best, found = gain - worth.risk * added, values
    return (best, found) if found else (-math.inf, -1)


@bare
def chosen_of(chosen: int, j: int, box: GrowingBox, scratch: BoxScratch) -> tuple[float, int]:
    """Return the subjects and the values of a chosen set of the observed values."""
    left, values, first = 0.0, 0, scratch.until[j]
    for i in range(scratch.until[j + 1] - first - 1):
        if has(chosen, i):
            left += scratch.held[first + i]
            values |= set_from(first + i, j, box, scratch)
    return left, values


@bare
def sets_are_diverse(
    people: SamplePeople,
    box: GrowingBox,
    j: int,
    values: int,
    sensitive: SensitiveRows,
    scratch: BoxScratch,
) -> bool:
    """Return whether the rows with these values, and the others, both meet the rules."""
    below, both = scratch.shown[1], scratch.shown[0]
    below[:] = 0.0
    for r in range(box.first, box.last):
        if has(values, people.codes[r, j]):
            add_row(people.row[r], sensitive, below)
    return is_diverse(below, both, False, sensitive) and is_diverse(below, both, True, sensitive)
