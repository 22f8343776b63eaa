"""Prune weakest links (Breiman, Friedman, Olshen, Stone 1984, 3.3), each tree in O(n log n).

The cost of a pruned tree at a weight is its loss plus the weight times its risk. As the weight
increases, the tree of least cost loses splits and never regains one, so the trees are nested. Each
node has a heap of the splits below it, with the last one to be pruned on top. On the way up, it is
melded with its sibling's heap.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.tables.trees.kernels.inputs import Floats

Nodes = NDArray[np.int32]
FLAT = 1e-12
DEEPEST = 64  # a leftist heap of n nodes has a right spine of at most log2(n + 1)


@compile_kernel
def weakest_links(part: Nodes, risk: Floats, loss: Floats) -> Floats:
    """Return the weight at which each node's split is pruned.

    It is infinite if no weight prunes the split. It is NaN for a leaf, or if the split is pruned
    together with one above it.
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
        while heap >= 0 and weight[heap] >= goes:  # both splits are pruned together
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
    """Return the largest number of pruned links at which each node is split (-1 for a leaf).

    `links` are the nodes with splits to prune, in that order. A split that is not a separate link
    is pruned together with the one above it. A split of infinite weight stays.
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
    """Return the weight at which the reduction of risk is equal to the increase of loss."""
    if falls > FLAT * scale:
        return max(rises, 0.0) / falls
    return math.inf if rises > FLAT else 0.0


@bare
def meld(
    one: int, other: int, key: Floats, left: Nodes, right: Nodes, rank: Nodes, path: Nodes
) -> int:
    """Meld two leftist max-heaps, where -1 is an empty heap, and return the top."""
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
