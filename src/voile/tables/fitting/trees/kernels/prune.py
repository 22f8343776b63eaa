"""Weakest-link pruning (Breiman, Friedman, Olshen, Stone 1984, 3.3), each tree in O(n log n).

The cost of a pruned tree at a weight is its loss and the weight times its risk. As the weight
rises, the tree of least cost loses cuts and never gains one back: the trees are nested. A heap
of each box's cuts, the one that goes last on top, is melded with its sibling's on the way up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.tables.trees.kernels.inputs import Floats

Nodes = NDArray[np.int32]
FLAT = 1e-12
DEEPEST = 64  # a leftist heap of n has a right spine of log2(n + 1) at most


@compile_kernel
def weakest_links(part: Nodes, risk: Floats, loss: Floats) -> Floats:
    """Return of each box the weight at which its cut goes.

    Infinite where no weight takes the cut; NaN of a box that is not cut, or whose cut goes with
    one above it.
    """
    n = len(part)
    weight, falls, rises = np.full(n, np.nan), np.zeros(n), np.zeros(n)
    left, right = np.full(n, -1, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    rank, top = np.zeros(n, dtype=np.int32), np.full(n, -1, dtype=np.int32)
    path = np.zeros(DEEPEST, dtype=np.int32)
    for box in range(n - 1, -1, -1):
        if part[box] < 0:
            continue
        one, other = part[box], part[box] + 1
        heap = meld(top[one], top[other], weight, left, right, rank, path)
        below_risk, below_loss = risk[one] + risk[other], loss[one] + loss[other]
        goes = trade(below_risk - risk[box], loss[box] - below_loss, risk[box])
        while heap >= 0 and weight[heap] >= goes:  # this cut goes before: that one goes with it
            below_risk, below_loss = below_risk + falls[heap], below_loss - rises[heap]
            weight[heap] = np.nan
            heap = meld(left[heap], right[heap], weight, left, right, rank, path)
            goes = trade(below_risk - risk[box], loss[box] - below_loss, risk[box])
        weight[box], falls[box] = goes, below_risk - risk[box]
        rises[box] = loss[box] - below_loss
        left[box], right[box], rank[box] = -1, -1, 1
        top[box] = meld(heap, box, weight, left, right, rank, path)
    return weight


@compile_kernel
def last_cut(part: Nodes, weight: Floats, links: NDArray[np.int64]) -> Nodes:
    """Return up to how many pruned links each box is cut; -1 for a box that is not cut.

    `links` are the boxes with cuts to prune, in that order. A cut that is no link of its own goes
    with the one above it. A cut of infinite weight stays.
    """
    last = np.full(len(part), -1, dtype=np.int32)
    for i in range(len(links)):
        last[links[i]] = i
    for box in range(len(part)):
        if part[box] < 0:
            continue
        if math.isinf(weight[box]):
            last[box] = len(links)
        for side in range(2):
            one = part[box] + side
            if part[one] >= 0 and math.isnan(weight[one]):
                last[one] = last[box]
    return last


@bare
def trade(falls: float, rises: float, scale: float) -> float:
    """Return the weight at which what risk falls by is worth what loss rises by."""
    if falls > FLAT * scale:
        return max(rises, 0.0) / falls
    return math.inf if rises > FLAT else 0.0


@bare
def meld(
    one: int, other: int, key: Floats, left: Nodes, right: Nodes, rank: Nodes, path: Nodes
) -> int:
    """Meld two leftist heaps of the largest key, -1 empty; return the top."""
    depth = 0
    while one >= 0 and other >= 0:
        if key[one] < key[other]:
            one, other = other, one
        path[depth] = one
        depth += 1
        one = right[one]
    made = max(one, other)
    while depth > 0:
        depth -= 1
        box = path[depth]
        right[box] = made
        if left[box] < 0 or rank[left[box]] < rank[made]:
            left[box], right[box] = right[box], left[box]
        rank[box] = 1 + (rank[right[box]] if right[box] >= 0 else 0)
        made = box
    return made
