"""What a pruned tree scores, and that none of the tree beats it at any weight."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.tables.fitting.trees.trials import GROWTHS, inside, small_ground

from voile.core.errors import InfeasibleError
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.scoring.disclosure import distinct_l, entropy_l, t_closeness
from voile.tables.scoring.losses import CombinationGrouping, losses


def grown_of(seed, growth, *, limited, loss_weight=0.5, empty=False):
    ground = small_ground(seed, limited=limited, empty=empty)
    try:
        return ground, grow_tree(ground, growth, loss_weight=loss_weight)
    except InfeasibleError:
        assume(False)


def every_pruning(part, box, figures):
    """Yield (risk, loss) of every way to prune the boxes from one on."""
    yield figures[box]
    if part[box] >= 0:
        for left in every_pruning(part, part[box], figures):
            for right in every_pruning(part, part[box] + 1, figures):
                yield left[0] + right[0], left[1] + right[1]


def box_figures(ground, tree, loss_weight):
    """Return risk and loss of each box of a tree alone, from the definitions."""
    counts, found = ground.counts, []
    for low, high in zip(*tree.bounds, strict=True):
        own = inside(ground, low, high)
        if not counts.sample[own].any():
            found.append((0.0, 0.0))
            continue
        n, g = counts.sample[own].sum(), counts.population[own].sum()
        hidden = 0.0
        for j, unit in enumerate(ground.units.hidden):
            held = np.bincount(counts.codes[own, j], counts.sample[own])
            hidden += unit * (n * np.log(n) - (held[held > 0] * np.log(held[held > 0])).sum())
        spread = n * (np.log(high - low + 1.0).sum() - np.log(n)) * ground.units.spread
        found.append(
            (
                n / max(n, g, 1) / ground.units.matches,
                loss_weight * spread + (1 - loss_weight) * hidden,
            )
        )
    return found


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(GROWTHS),
    st.booleans(),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.booleans(),
)
def test_no_pruning_of_the_tree_costs_less_at_any_weight(seed, growth, limited, loss_weight, empty):
    ground, grown = grown_of(seed, growth, limited=limited, loss_weight=loss_weight, empty=empty)
    assume(len(grown.tree.leaves) <= 14)
    figures = box_figures(ground, grown.tree, loss_weight)
    risk, loss = np.array(list(every_pruning(grown.tree.part, 0, figures))).T
    own = loss_weight * ground.units.own * ground.units.spread
    for weight in np.concatenate(([0.0], np.geomspace(1e-3, 1e3, 40))):
        least = (loss + weight * risk).min() + own
        found = (grown.loss + weight * grown.risk).min()
        assert abs(found - least) < 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(GROWTHS), st.booleans(), st.booleans())
def test_each_policy_scores_what_its_boxes_do(seed, growth, limited, empty):
    ground, grown = grown_of(seed, growth, limited=limited, empty=empty)
    counts = ground.counts
    for links in range(len(grown.risk)):
        tree = grown.tree.prune_links(links)
        box = np.searchsorted(tree.leaves, tree.place(counts.codes))
        n, g = (np.bincount(box, of, len(tree.leaves)) for of in (counts.sample, counts.population))
        g = np.maximum(np.maximum(n, g), 1)
        low, high = (ends[tree.leaves] for ends in tree.bounds)
        values = tuple(
            (np.arange(size) >= a[:, None]) & (np.arange(size) <= b[:, None])
            for size, a, b in zip(counts.sizes, low.T, high.T, strict=True)
        )
        boxes = np.tile(np.arange(len(n))[:, None], len(counts.sizes))
        exact = losses(counts, CombinationGrouping(box, boxes, values, n > 0))
        assert np.isclose(grown.risk[links], (n / g).sum() / ground.units.matches)
        assert np.isclose(grown.distribution[links], exact["distribution"], atol=1e-9)
        assert np.isclose(grown.resolution[links], exact["resolution"], atol=1e-9)
        assert np.isclose(grown.ncp[links], exact["ncp"], atol=1e-9)
        assert np.isclose(grown.largest[links], (1 / g)[n > 0].max())
        assert np.isclose(grown.smallest[links], n[n > 0].min())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(GROWTHS), st.booleans())
def test_every_policy_keeps_the_constraints_and_no_box_is_empty_unasked(seed, growth, empty):
    ground, grown = grown_of(seed, growth, limited=True, empty=empty)
    rules, counts = ground.constraints, ground.counts
    assert (np.maximum(grown.smallest, 1) >= rules.k - 1e-9).all()
    assert (grown.largest <= rules.max_risk + 1e-9).all()
    for links in (0, len(grown.risk) // 2, len(grown.risk) - 1):
        tree = grown.tree.prune_links(links)
        box = tree.place(counts.codes)[counts.sample > 0]
        assert empty or set(box) == set(tree.leaves)
        for one in ground.diversity:
            own = one.counts[counts.sample > 0]
            held = np.array([own[box == b].sum(0) for b in np.unique(box)])
            assert distinct_l(held) >= one.distinct
            assert entropy_l(held) >= one.entropy - 1e-9
            assert t_closeness(held, ordered=one.ordered) <= one.t + 1e-7


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(GROWTHS), st.booleans())
def test_boxes_are_disjoint_and_cover_every_combination(seed, growth, limited):
    ground, grown = grown_of(seed, growth, limited=limited)
    sizes = ground.counts.sizes
    every = np.stack(np.unravel_index(np.arange(np.prod(sizes)), sizes), axis=1).astype(np.int32)
    for links in (0, len(grown.risk) - 1):
        tree = grown.tree.prune_links(links)
        low, high = (ends[tree.leaves] for ends in tree.bounds)
        holds = ((every[:, None] >= low) & (every[:, None] <= high)).all(axis=2)
        assert (holds.sum(axis=1) == 1).all()
        assert (tree.leaves[holds.argmax(axis=1)] == tree.place(every)).all()


def test_pruning_all_links_leaves_what_costs_no_risk():
    ground, grown = grown_of(3, GROWTHS[0], limited=False)
    whole = ground.counts.subjects / max(ground.counts.population.sum(), 1.0) / ground.units.matches
    assert np.isclose(grown.risk[-1], whole)
    assert (np.diff(grown.risk) <= 1e-12).all()
    assert (np.diff(grown.loss) >= -1e-12).all()


def test_a_box_that_may_leave_others_empty_is_cut_back_to_its_records():
    ground, grown = grown_of(0, GROWTHS[2], limited=False, empty=True)
    sampled = ground.counts.sample > 0
    box = grown.tree.place(ground.counts.codes[sampled])
    low, high = (ends[box] for ends in grown.tree.bounds)
    assert (low == high).all()
    assert np.isclose(grown.loss[0], 0)
