"""Merge boxes that are short of people on other rows than those the tree was grown on.

A short box with its ancestor's label alone would show only the rest of the ancestor. The label's
count k would then be false. So the whole ancestor becomes one box, and boxes stay disjoint.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.tables.trees.tree import UNCUT, BoxTree, Nodes


def climb(
    tree: BoxTree,
    shown: NDArray[np.bool_],
    is_allowed: Callable[[NDArray[np.intp]], bool],
) -> Nodes | None:
    """Return the released box for each uncut box, (boxes,); -1 for boxes that are cut.

    Parameters
    ----------
    shown : (boxes,) which uncut boxes have rows: others are not released, with any count.
    is_allowed : whether these uncut boxes, some of them with rows, may be one box together. It may
        allow a box and refuse a larger one.

    Returns
    -------
    None where even one box of all is not allowed.

    Each box that holds rows is then allowed, its own rows counted and no others'. O(boxes), and a
    call for each box that holds rows or is merged.
    """
    first, last = _leaf_runs(tree)
    ordered = tree.leaves[np.argsort(first[tree.leaves])]
    merged = np.zeros(len(tree), dtype=np.bool_)
    short = np.zeros(len(tree), dtype=np.bool_)
    for box in range(len(tree) - 1, -1, -1):
        if tree.part[box] >= 0:
            one = tree.part[box]
            merged[box] = short[one] or short[one + 1]
        if merged[box] or (tree.part[box] < 0 and shown[box]):
            own = ordered[first[box] : last[box]]
            short[box] = not is_allowed(own)
    if short[0]:
        return None
    stands = np.arange(len(tree), dtype=np.int32)
    for box in range(1, len(tree)):
        above = tree.parents[box]
        if stands[above] != above or merged[above]:
            stands[box] = stands[above]
    stands[tree.part >= 0] = UNCUT
    return stands


def _leaf_runs(tree: BoxTree) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, of every box, which run of the uncut boxes it holds, from left to right."""
    held = np.ones(len(tree), dtype=np.intp)
    for box in range(len(tree) - 1, -1, -1):
        if tree.part[box] >= 0:
            held[box] = held[tree.part[box]] + held[tree.part[box] + 1]
    first = np.zeros(len(tree), dtype=np.intp)
    for box in range(len(tree)):
        if tree.part[box] >= 0:
            one = tree.part[box]
            first[one] = first[box]
            first[one + 1] = first[box] + held[one]
    return first, first + held
