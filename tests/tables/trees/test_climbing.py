"""On rows that a tree was not grown on, every released box is allowed by its own rows alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.fitting.trees.trials import GROWTHS, small_ground

from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.trees.climbing import climb
from voile.tables.trees.tree import BoxTree


def twin(tree, n, k):
    """Return the box that stands for each uncut box: parts of a merged box are all merged."""
    size = n.copy()
    for box in range(len(tree) - 1, -1, -1):
        if tree.part[box] >= 0:
            size[box] = size[tree.part[box]] + size[tree.part[box] + 1]

    def pieces(box):
        if tree.part[box] < 0:
            return [box]
        parts = pieces(tree.part[box]) + pieces(tree.part[box] + 1)
        return [box] if any(0 < size[one] < k for one in parts) else parts

    def below(box):
        if tree.part[box] < 0:
            return [box]
        return below(tree.part[box]) + below(tree.part[box] + 1)

    made = pieces(0)
    if any(0 < size[one] < k for one in made):
        return None
    return {leaf: one for one in made for leaf in below(one)}


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.1, 2.0))
def test_short_boxes_take_their_whole_ancestor(seed, k, scale):
    tree = grow_tree(small_ground(seed, limited=False), GROWTHS[0], loss_weight=0.5).tree
    unseen = np.random.default_rng(seed).poisson(scale, len(tree))
    unseen[tree.part >= 0] = 0
    stands = climb(tree, unseen > 0, lambda leaves: unseen[leaves].sum() >= k)
    expected = twin(tree, unseen, k)
    if expected is None:
        assert stands is None
        return
    assert {leaf: stands[leaf] for leaf in tree.leaves} == expected
    sums = np.bincount(stands[tree.leaves], unseen[tree.leaves])
    assert (sums[sums > 0] >= k).all()


def test_what_one_box_of_all_breaks_cannot_be_released():
    two = np.array([1, -1, -1], np.int32)
    tree = BoxTree((2,), np.array([0, -1, -1], np.int32), np.zeros(3, np.int32), two, two - 1)
    rows = np.array([False, True, True])
    assert climb(tree, rows, lambda leaves: False) is None
    assert climb(tree, rows, lambda leaves: len(leaves) == 2).tolist() == [-1, 0, 0]
