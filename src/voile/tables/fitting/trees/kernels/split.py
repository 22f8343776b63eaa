"""Find the best split of a node by a sweep through its values of each column."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare
from voile.tables.fitting.trees.kernels.sets import best_set
from voile.tables.fitting.trees.kernels.sums import group_of, n_log_n, risk_added, weights_of
from voile.tables.trees.kernels.diverse import parts_are_diverse, show, sort_rows
from voile.tables.trees.kernels.inputs import (
    AllowedBoxes,
    BoxScratch,
    CutWorth,
    Floats,
    GrowingBox,
    SamplePeople,
    SensitiveRows,
)


@bare
def best_cut(
    people: SamplePeople,
    worth: CutWorth,
    allowed: AllowedBoxes,
    sensitive: SensitiveRows,
    box: GrowingBox,
    scratch: BoxScratch,
) -> tuple[int, int]:
    """Return the column and the value after which a split gains most, or (-1, 0) if none.

    For a column without an order, the values of the first child are returned in place of the value.
    """
    best, column, after = -math.inf, -1, 0
    looks = len(sensitive.whole) > 0
    if looks:
        show(people, box, sensitive, scratch)
    for j in range(len(box.low)):
        if allowed.empty and not allowed.free[j] and box.low[j] < box.high[j]:
            gain, value = best_of_edges(people, worth, allowed, box, scratch, j, best)
            if gain > best:
                best, column, after = gain, j, value
        if scratch.until[j + 1] - scratch.until[j] < 2:
            continue
        if allowed.free[j]:
            gain, value = best_set(people, worth, allowed, sensitive, box, scratch, j, best)
            if gain > best:
                best, column, after = gain, j, value
            continue
        if looks:
            sort_rows(people, box, j, allowed.start[j], scratch)
        gain, value = best_of_column(people, worth, allowed, sensitive, box, scratch, j, best)
        if gain > best:
            best, column, after = gain, j, value
    return column, after


@bare
def best_of_column(
    people: SamplePeople,
    worth: CutWorth,
    allowed: AllowedBoxes,
    sensitive: SensitiveRows,
    box: GrowingBox,
    scratch: BoxScratch,
    j: int,
    best: float,
) -> tuple[float, int]:
    """Return the gain and value of the best split of column j, if it gains more than `best`.

    A gain includes risk, eq. 4 and the entropy of column j itself. The entropy of other columns
    decreases as well, by their mutual information with the split. The gain ignores that.
    """
    n, log, table = box.figures[0], worth.log, worth.n_log_n
    spread, logs = weights_of(worth, box, j)
    whole = n * log[box.high[j] - box.low[j] + 1] * spread - n_log_n(n, table) * logs
    left, found, sorted_until, begin = 0.0, -1, box.first, allowed.start[j]
    for i in range(scratch.until[j], scratch.until[j + 1] - 1):
        a, b = scratch.at[i], scratch.at[i + 1]
        left += scratch.held[i]
        if min(left, n - left) < allowed.least_n:
            continue
        apart = (n_log_n(left, table) + n_log_n(n - left, table)) * logs
        least = min(wide_of(a, left, j, box, log), wide_of(b - 1, left, j, box, log))
        if whole - least * spread + apart <= best:  # for any position in the gap
            continue
        c = place_in_gap(a, b, j, box, allowed, scratch)
        if c < 0:
            continue
        below = left * people.factor if people.factor > 0.0 else scratch.crowd[begin + c]
        added = risk_added(box, left, below, allowed.least_g)
        gain = whole - wide_of(c, left, j, box, log) * spread + apart - worth.risk * added
        if math.isinf(added) or gain <= best:
            continue
        if len(sensitive.whole):
            rows = sorted_until, scratch.ends[begin + a]
            sorted_until = rows[1]
            if not parts_are_diverse(people, box, j, rows, sensitive, scratch):
                continue
        best, found = gain, c
    return (best, found) if found >= 0 else (-math.inf, -1)


@bare
def wide_of(c: int, left: float, j: int, box: GrowingBox, log: Floats) -> float:
    """Return the sum of n log width of two children, split after value c of column j."""
    right = box.figures[0] - left
    return float(left * log[c - box.low[j] + 1] + right * log[box.high[j] - c])


@bare
def place_in_gap(
    a: int, b: int, j: int, box: GrowingBox, allowed: AllowedBoxes, scratch: BoxScratch
) -> int:
    """Return the value of a..b - 1 after which to split.

    The values a and b are in the sample, and none between them is. Null is split off by itself.
    Otherwise the split is where the population's density changes most, at the first of equal
    positions, or else in the middle. It uses only the position of the gap from the sample. The
    nearest allowed split replaces a forbidden one. The result is -1 if there is none.
    """
    begin, end = allowed.start[j], allowed.start[j + 1]
    c = (a + b - 1) // 2
    if allowed.nullable[j] and b == end - begin - 1:
        c = b - 1
    elif allowed.by_crowd and b > a + 1:
        c = where_density_changes(a, b, j, box, begin, scratch.crowd)
    return nearest_allowed(c, a, b, allowed.cuts[begin:end])


@bare
def best_of_edges(
    people: SamplePeople,
    worth: CutWorth,
    allowed: AllowedBoxes,
    box: GrowingBox,
    scratch: BoxScratch,
    j: int,
    best: float,
) -> tuple[float, int]:
    """Return the gain and value of column j's best split with one empty side, if it gains more."""
    n, g, found = box.figures[0], box.figures[1], -1
    spread, _ = weights_of(worth, box, j)
    low, high, begin = box.low[j], box.high[j], allowed.start[j]
    first, last = scratch.at[scratch.until[j]], scratch.at[scratch.until[j + 1] - 1]
    for c in range(low, high):
        if first <= c < last or not allowed.cuts[begin + c]:
            continue
        width = high - c if c < first else c - low + 1
        kept = g
        if people.factor == 0.0:
            kept = g - scratch.crowd[begin + c] if c < first else scratch.crowd[begin + c]
        if group_of(n, kept) < allowed.least_g:
            continue
        narrower = worth.log[high - low + 1] - worth.log[width]
        gain = n * narrower * spread - worth.risk * (n / group_of(n, kept) - box.figures[2])
        if gain > best:
            best, found = gain, c
    return (best, found) if found >= 0 else (-math.inf, -1)


@bare
def where_density_changes(
    a: int, b: int, j: int, box: GrowingBox, begin: int, crowd: Floats
) -> int:
    """Return the value of a..b - 1 after which two uniform parts have the largest likelihood."""
    best, found = -math.inf, a
    for c in range(a, b):
        left, fit = crowd[begin + c], 0.0
        right = box.figures[1] - left
        if left > 0.0:
            fit += left * math.log(left / (c - box.low[j] + 1))
        if right > 0.0:
            fit += right * math.log(right / (box.high[j] - c))
        if fit > best:
            best, found = fit, c
    return found


@bare
def nearest_allowed(c: int, a: int, b: int, cuts: NDArray[np.bool_]) -> int:
    """Return the allowed split of a..b - 1 nearest to c (the lower of two), or -1 if none."""
    for away in range(b - a):
        if c - away >= a and cuts[c - away]:
            return c - away
        if c + away < b and cuts[c + away]:
            return c + away
    return -1
