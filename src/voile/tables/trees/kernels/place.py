"""Compute the bounds of nodes, and the leaf of each combination."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel

Codes = NDArray[Any]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Nodes = NDArray[np.int32]
Bits = NDArray[np.bool_]


@bare
def has(values: int, value: int) -> bool:
    """Return whether a set contains a value."""
    return (values >> value) & 1 == 1


@bare
def goes_left(value: int, cut: int, free: bool) -> bool:
    """Return whether a value goes to the first child: it is in the set, or up to the cut."""
    return has(cut, value) if free else value <= cut


@bare
def least_of(values: int) -> int:
    """Return the least value of a non-empty set."""
    value = 0
    while not has(values, value):
        value += 1
    return value


@bare
def last_of(values: int) -> int:
    """Return the greatest value of a set, or -1 if it is empty."""
    value = -1
    while values:
        values >>= 1
        value += 1
    return value


@compile_kernel
def bounds(
    sizes: Nodes, free: Bits, column: Nodes, cut: Nodes, part: Nodes
) -> tuple[Nodes, Nodes, Ints]:
    """Return the first and the last position of every node, (boxes, columns), both included.

    The third array contains the positions in columns without an order, one bit each.
    """
    inside = np.zeros((len(part), len(sizes)), dtype=np.int64)
    for j in range(len(sizes)):
        if free[j]:
            inside[0, j] = (1 << np.int64(sizes[j])) - 1
    low = np.zeros((len(part), len(sizes)), dtype=np.int32)
    high = np.zeros((len(part), len(sizes)), dtype=np.int32)
    high[0] = sizes - 1
    for box in range(len(part)):
        one = part[box]
        if one < 0:
            continue
        for side in range(2):
            low[one + side], high[one + side] = low[box], high[box]
            inside[one + side] = inside[box]
        j = column[box]
        if free[j]:
            inside[one, j] &= cut[box]
            inside[one + 1, j] &= ~np.int64(cut[box])
            for side in range(2):
                low[one + side, j] = least_of(inside[one + side, j])
                high[one + side, j] = last_of(inside[one + side, j])
        else:
            high[one, j] = cut[box]
            low[one + 1, j] = cut[box] + 1
    return low, high, inside


@compile_kernel
def place(codes: Codes, free: Bits, column: Nodes, cut: Nodes, part: Nodes) -> Nodes:
    """Return the number of each row's leaf, (m,), or -1 for a row with a value below 0.

    Cost: O(rows x depth).
    """
    found = np.zeros(len(codes), dtype=np.int32)
    for r in range(len(codes)):
        box = np.int32(0)
        for j in range(codes.shape[1]):
            if codes[r, j] < 0:
                box = np.int32(-1)
        while box >= 0 and part[box] >= 0:
            j = column[box]
            box = part[box] + (not goes_left(codes[r, j], cut[box], free[j]))
        found[r] = box
    return found


@compile_kernel
def add_up(
    codes: Codes, weight: Floats, free: Bits, column: Nodes, cut: Nodes, part: Nodes
) -> Floats:
    """Return the weight of the rows that each node may contain, (boxes,).

    A value below 0 may be any value. Cost: O(rows x nodes that may contain a row).
    """
    total = np.zeros(len(part))
    waiting = np.zeros(len(part), dtype=np.int32)
    for r in range(len(codes)):
        top = 0
        waiting[0] = 0
        while top >= 0:
            box = waiting[top]
            top -= 1
            total[box] += weight[r]
            if part[box] < 0:
                continue
            at, is_free = codes[r, column[box]], free[column[box]]
            if at < 0 or goes_left(at, cut[box], is_free):
                top += 1
                waiting[top] = part[box]
            if at < 0 or not goes_left(at, cut[box], is_free):
                top += 1
                waiting[top] = part[box] + 1
    return total
