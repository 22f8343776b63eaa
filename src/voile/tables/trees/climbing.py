"""Merge leaves with too few people in rows other than those on which the tree was grown.

If a short leaf took its ancestor's label alone, the label would apply only to the remainder of the
ancestor. The label's count k would then be false. The whole ancestor therefore becomes one leaf,
and leaves stay disjoint.
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
    """Return the released node for each leaf, (boxes,), or -1 for internal nodes.

    Parameters
    ----------
    shown : (boxes,) bool, the leaves with rows. Other leaves are not released, whatever their
        count.
    is_allowed : a function that returns whether these leaves may form one released node, given that
        some of them have rows. It may allow a node and refuse a larger one.

    Returns
    -------
    stands : the released nodes, or None if even the root is not allowed.

    Each node with rows is then allowed, counting only its own rows. Cost: O(boxes), and one call
    for each node that has rows or is merged.
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
    """Return, for every node, the first and the last of its leaves, from left to right."""
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
