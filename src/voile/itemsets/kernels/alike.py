"""Find items that k subjects with similar rows have in common.

Such items may be shared together, and there are often many of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.containment import holds
from voile.itemsets.kernels.groups import (
    Counts,
    Items,
    SubjectGroups,
    holders_of,
    marks_for,
    subjects,
)

AT_ONCE = 8

Floats = NDArray[np.float64]


@inner
def common(
    groups: SubjectGroups, weights: Floats, p: int, k: int, overlap: Floats, marks: Counts
) -> tuple[Items, int]:
    """Return the items that pattern p and similar patterns of at least k subjects have in common.

    Each step adds the pattern with the largest total weight of the remaining items. Only items of
    positive weight are counted.

    Returns
    -------
    The common items and the number of patterns. The items are empty if k subjects have no item in
    common. `overlap` is scratch.
    """
    row = groups.items[groups.starts[p] : groups.starts[p + 1]]
    left = row[np.array([weights[x] > 0 for x in row], dtype=np.bool_)]
    overlap[:] = 0.0
    for x in left:
        weigh(groups, x, weights[x], overlap)
    chosen, nearest = np.empty(0, dtype=np.int32), np.int32(p)
    while True:
        chosen, overlap[nearest] = np.append(chosen, nearest), -np.inf
        if len(left) == 0 or subjects(groups, chosen, k, marks) >= k:
            return left, len(chosen)
        nearest = np.int32(np.argmax(overlap))
        if overlap[nearest] <= 0:
            return left[:0], len(chosen)
        keeps = np.array([holds(groups, int(nearest), x) for x in left], dtype=np.bool_)
        for x in left[~keeps]:
            weigh(groups, x, -weights[x], overlap)
        left = left[keeps]


@inner
def weigh(groups: SubjectGroups, x: int, weight: float, overlap: Floats) -> None:
    """Add `weight` to the overlap of each pattern that has feature x."""
    for q in holders_of(groups, x):
        overlap[q] += weight


@compile_kernel
def best_common(groups: SubjectGroups, weights: Floats, order: Items, k: int, work: int) -> Items:
    """Return the heaviest set of items that a pattern shares with similar patterns.

    Patterns are tried in `order`. The search stops after about `work` visited ones of the matrix.
    """
    overlap, marks = np.zeros(len(groups.own)), marks_for(groups)
    best, heaviest = np.empty(0, dtype=np.int32), 0.0
    for p in order:
        for x in groups.items[groups.starts[p] : groups.starts[p + 1]]:
            work -= groups.column_starts[x + 1] - groups.column_starts[x]
        found, joined = common(groups, weights, p, k, overlap, marks)
        work -= joined * (len(overlap) // AT_ONCE + joined)
        worth = weights[found].sum()
        if worth > heaviest:
            best, heaviest = found, worth
        if work < 0:
            break
    return best
