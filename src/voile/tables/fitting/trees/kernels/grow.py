"""Grow a tree: split a node where a split lowers risk and loss most, and then both children."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.tables.fitting.trees.kernels.sets import width_of
from voile.tables.fitting.trees.kernels.split import best_cut
from voile.tables.fitting.trees.kernels.sums import group_of, n_log_n
from voile.tables.trees.kernels.inputs import (
    AllowedBoxes,
    BoxScratch,
    Codes,
    CutWorth,
    Floats,
    GrowingBox,
    Ints,
    SamplePeople,
    SensitiveRows,
)
from voile.tables.trees.kernels.place import goes_left, last_of, least_of

Nodes = NDArray[np.int32]


@compile_kernel
def grow(
    people: SamplePeople,
    worth: CutWorth,
    allowed: AllowedBoxes,
    sensitive: SensitiveRows,
    most: int,
) -> tuple[Nodes, Nodes, Nodes, Floats]:
    """Split greedily until no split is allowed, or until there are `most` nodes.

    Four arrays are returned, each by node:

    - the column of its split (-1 for a leaf),
    - the value after which it is split (for a column without an order, the values of the first
      child, one bit each),
    - the first of its two children, which the other follows directly,
    - its figures: subjects, people, n / g, nats of eq. 4, the sum over columns of n (width - 1) /
      (values - 1), and hidden nats of each column.

    A node comes before its children. The rows of `people` are sorted by leaf. Cost: O(rows x depth
    x columns).
    """
    start, d = allowed.start, people.codes.shape[1]
    column = np.full(most, -1, dtype=np.int32)
    cut = np.zeros(most, dtype=np.int32)
    part = np.full(most, -1, dtype=np.int32)
    figures = np.zeros((most, 5 + d))
    scratch = BoxScratch(
        np.zeros(start[d]),
        np.zeros(start[d]),
        np.zeros(start[d], dtype=np.int64),
        np.zeros(start[d]),
        np.zeros(d + 1, dtype=np.int64),
        np.zeros(len(people.n) if len(sensitive.whole) else 0, dtype=np.int64),
        np.zeros(start[d], dtype=np.int64),
        np.zeros((2, len(sensitive.whole))),
    )
    depth = start[d] - d + 2  # at most one split after each value of each column
    ahead = np.zeros((depth, 5), dtype=np.int64)  # node, its rows, its rows of the population
    lows, highs = np.zeros((depth, d), dtype=np.int64), np.zeros((depth, d), dtype=np.int64)
    insides = np.zeros((depth, d), dtype=np.int64)
    for j in range(d):
        highs[0, j] = start[j + 1] - start[j] - 1
        if allowed.free[j]:
            insides[0, j] = (1 << (start[j + 1] - start[j])) - 1
    ahead[0, 2], ahead[0, 4] = len(people.n), len(people.g)
    made, waiting = 1, 1
    while waiting:
        waiting -= 1
        number, first, last, near, far = ahead[waiting]
        low, high, inside = lows[waiting].copy(), highs[waiting].copy(), insides[waiting].copy()
        box = GrowingBox(first, last, low, high, inside, figures[number])
        count(people, worth, allowed, box, near, far, scratch)
        may_part = last - first > 1 and box.figures[0] >= 2 * allowed.least_n
        if last == first or not (may_part or allowed.empty) or made + 2 > most:
            continue
        j, after = best_cut(people, worth, allowed, sensitive, box, scratch)
        if j < 0:
            continue
        free = allowed.free[j]
        middle = move(people.codes, people.n, people.row, first, last, j, after, free)
        between = move(people.crowd, people.g, people.row[:0], near, far, j, after, free)
        column[number], cut[number], part[number] = j, after, made
        for right in (1, 0):  # the left child is split next
            lows[waiting], highs[waiting], insides[waiting] = box.low, box.high, box.inside
            if free:
                own = box.inside[j] & ~after if right else after
                lows[waiting, j], highs[waiting, j] = least_of(own), last_of(own)
                insides[waiting, j] = own
            elif right:
                lows[waiting, j] = after + 1
            else:
                highs[waiting, j] = after
            ahead[waiting, 0] = made + right
            ahead[waiting, 1], ahead[waiting, 2] = (middle, last) if right else (first, middle)
            ahead[waiting, 3], ahead[waiting, 4] = (between, far) if right else (near, between)
            waiting += 1
        made += 2
    return column[:made], cut[:made], part[:made], figures[:made]


@bare
def count(
    people: SamplePeople,
    worth: CutWorth,
    allowed: AllowedBoxes,
    box: GrowingBox,
    near: int,
    far: int,
    scratch: BoxScratch,
) -> None:
    """Count a node's subjects and people by the values of each column, and compute its figures."""
    start = allowed.start
    n = tally(people.codes, people.n, box.first, box.last, start, box, scratch.values)
    g = n * people.factor
    if people.factor == 0.0:
        g = count_crowd(people, near, far, start, box, scratch.crowd)
    figures, own = box.figures, n_log_n(n, worth.n_log_n)
    figures[0], figures[1], figures[2], figures[3] = n, g, n / group_of(n, g), -own
    made = 0
    for j in range(len(box.low)):
        width = width_of(box, j, allowed)
        if width > 1:
            figures[3] += n * worth.log[width]
            figures[4] += n * (width - 1) / (start[j + 1] - start[j] - 1)
            hidden = own
            for v in range(box.low[j], box.high[j] + 1):
                x = scratch.values[start[j] + v]
                if x > 0.0:
                    scratch.values[start[j] + v] = 0.0
                    scratch.at[made], scratch.held[made] = v, x
                    made += 1
                    hidden -= n_log_n(x, worth.n_log_n)
            figures[5 + j] = hidden
        scratch.until[j + 1] = made


@bare
def count_crowd(
    people: SamplePeople, near: int, far: int, start: Ints, box: GrowingBox, crowd: Floats
) -> float:
    """Count a node's people up to each value of each column with several values in the node."""
    for j in range(len(box.low)):
        crowd[start[j] + box.low[j] : start[j] + box.high[j] + 1] = 0.0
    total = tally(people.crowd, people.g, near, far, start, box, crowd)
    for j in range(len(box.low)):
        for v in range(start[j] + box.low[j], start[j] + box.high[j]):
            crowd[v + 1] += crowd[v]
    return total


@bare
def tally(
    codes: Codes,
    weight: Floats,
    first: int,
    last: int,
    start: Ints,
    box: GrowingBox,
    values: Floats,
) -> float:
    """Sum rows first..last - 1 by the values of each column with several values in the node."""
    total = 0.0
    for r in range(first, last):
        total += weight[r]
    for j in range(len(box.low)):
        if box.low[j] < box.high[j]:
            for r in range(first, last):
                values[start[j] + codes[r, j]] += weight[r]
    return total


@bare
def move(
    codes: Codes,
    weight: Floats,
    row: Ints,
    first: int,
    last: int,
    column: int,
    after: int,
    free: bool,
) -> int:
    """Move rows first..last - 1 up to a split before those above it, and return their boundary."""
    low, high = first, last - 1
    while low <= high:
        if goes_left(codes[low, column], after, free):
            low += 1
            continue
        for j in range(codes.shape[1]):
            codes[low, j], codes[high, j] = codes[high, j], codes[low, j]
        weight[low], weight[high] = weight[high], weight[low]
        if len(row):
            row[low], row[high] = row[high], row[low]
        high -= 1
    return low
