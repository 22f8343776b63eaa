"""What k subjects with alike rows have in common: it may be shared, and is often a lot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.compiled import compiled, inner
from voile.itemsets.kernels.containment import holds
from voile.itemsets.kernels.groups import Counts, Groups, Items, marks_for, subjects

Floats = NDArray[np.float64]


@inner
def common(
    groups: Groups, weights: Floats, p: int, k: int, overlap: Floats, marks: Counts
) -> Items:
    """Return what pattern p and those most like it, of k subjects in all, have in common.

    Each time the pattern joins whose overlap with what is left weighs most. Features that weigh
    0 are left out; nothing is returned where fewer than k subjects have anything in common.
    """
    row = groups.items[groups.starts[p] : groups.starts[p + 1]]
    left = row[np.array([weights[x] > 0 for x in row], dtype=np.bool_)]
    chosen = np.full(1, p, dtype=np.int32)
    while len(left) and subjects(groups, chosen, k, marks) < k:
        for x in left:
            for q in groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]:
                overlap[q] += weights[x]
        overlap[chosen] = 0.0
        nearest, most = -1, 0.0
        for x in left:
            for q in groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]:
                if overlap[q] > most:
                    nearest, most = q, overlap[q]
                overlap[q] = 0.0
        if nearest < 0:
            return left[:0]
        chosen = np.append(chosen, np.int32(nearest))
        left = left[np.array([holds(groups, nearest, x) for x in left], dtype=np.bool_)]
    return left


@compiled
def best_common(groups: Groups, weights: Floats, order: Items, k: int, work: int) -> Items:
    """Return the heaviest of what the patterns in order have in common with those like them.

    Ends when about `work` ones were gone through.
    """
    overlap, marks = np.zeros(len(groups.own)), marks_for(groups)
    best, heaviest = np.empty(0, dtype=np.int32), 0.0
    for p in order:
        for x in groups.items[groups.starts[p] : groups.starts[p + 1]]:
            work -= groups.column_starts[x + 1] - groups.column_starts[x]
        found = common(groups, weights, p, k, overlap, marks)
        worth = weights[found].sum()
        if worth > heaviest:
            best, heaviest = found, worth
        if work < 0:
            break
    return best
