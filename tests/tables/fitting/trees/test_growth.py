"""Every cut of a grown tree is the best that its box allows, and no cut is left, by definition."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.fitting.trees.trials import GROWTHS, inside, small_ground

from voile.core.errors import InfeasibleError, RequestError
from voile.tables.fitting.trees.ground import BoxDiversity, TreeGround
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.people.counts import Constraints
from voile.tables.scoring.disclosure import distinct_l, entropy_l, t_closeness

SLACK = 1e-9


def nats(n):
    return n * math.log(n) if n > 0 else 0.0


def is_allowed(ground, own):
    rules, n = ground.constraints, ground.counts.sample[own].sum()
    g = max(n, ground.counts.population[own].sum(), 1)
    if max(n, 1) < rules.k - SLACK or g * rules.max_risk < 1 - SLACK or n == 0:
        return False
    for one in ground.diversity:
        box, whole = one.counts[own].sum(0), one.counts.sum(0)
        if box.sum() <= SLACK or distinct_l(box[None] * (box > SLACK)[None]) < one.distinct:
            return False
        away = box / box.sum() - whole / whole.sum()
        moved = abs(np.cumsum(away)).sum() / (len(away) - 1) if one.ordered else abs(away).sum() / 2
        if entropy_l(box[None]) < one.entropy - 1e-7 or moved > one.t + SLACK:
            return False
    return True


def place(ground, column, a, b, low, high):
    """Return where the rule cuts a gap of the sample, of the cuts that are not forbidden."""
    sizes = ground.counts.sizes
    if ground.nullable[column] and b == sizes[column] - 1:
        wanted = b - 1
    elif not ground.build_allowed().by_crowd:
        wanted = (a + b - 1) // 2
    else:
        codes, people = ground.counts.codes[:, column], ground.counts.population
        own = inside(ground, low, high)

        def fit(c):
            left, right = people[own & (codes <= c)].sum(), people[own & (codes > c)].sum()
            wide = math.log(c - low[column] + 1), math.log(high[column] - c)
            return nats(left) - left * wide[0] + nats(right) - right * wide[1]

        wanted = max(range(a, b), key=lambda c: (round(fit(c), 9), -c))
    forbidden = ground.constraints.forbidden
    start = sum(sizes[:column]) - column
    free = [c for c in range(a, b) if forbidden is None or not forbidden[start + c]]
    return min(free, key=lambda c: (abs(c - wanted), c), default=None)


def cuts_in(ground, j, low, high):
    """Yield after which values a box may be cut: once in each gap, and anywhere before or after."""
    counts, start = ground.counts, sum(ground.counts.sizes[:j]) - j
    own = inside(ground, low, high) & (counts.sample > 0)
    shown = np.unique(counts.codes[own, j]).tolist()
    yield from (place(ground, j, a, b, low, high) for a, b in pairwise(shown))
    if shown and ground.constraints.empty_boxes:
        forbidden = ground.constraints.forbidden
        for c in (*range(low[j], shown[0]), *range(shown[-1], high[j])):
            yield None if forbidden is not None and forbidden[start + c] else c


def is_empty(ground, own):
    return ground.constraints.empty_boxes and not ground.counts.sample[own].any()


def gains(ground, growth, low, high):
    """Return what each allowed cut of a box gains, by (column, after)."""
    counts, found = ground.counts, {}
    own = inside(ground, low, high)
    n = counts.sample[own].sum()
    share = growth.coarse if n > growth.large else growth.fine

    def cost(part, column, width):
        n, people = counts.sample[part].sum(), counts.population[part].sum()
        held = np.bincount(counts.codes[part, column], counts.sample[part])
        hidden = nats(n) - sum(map(nats, held))
        return (
            growth.weight / ground.units.matches * n / max(n, people, 1)
            + share * ground.units.spread * (n * math.log(width) - nats(n))
            + (1 - share) * ground.units.hidden[column] * hidden
        )

    for j in range(len(low)):
        for c in cuts_in(ground, j, low, high):
            if c is None:
                continue
            left, right = own & (counts.codes[:, j] <= c), own & (counts.codes[:, j] > c)
            if all(is_allowed(ground, part) or is_empty(ground, part) for part in (left, right)):
                after = cost(left, j, c - low[j] + 1) + cost(right, j, high[j] - c)
                found[j, c] = cost(own, j, high[j] - low[j] + 1) - after
    return found


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(GROWTHS), st.booleans(), st.booleans())
def test_each_cut_gains_most_and_no_allowed_one_is_left(seed, growth, limited, empty):
    ground = small_ground(seed, limited=limited, empty=empty)
    try:
        tree = grow_tree(ground, growth, loss_weight=0.5).tree
    except InfeasibleError:
        assert not is_allowed(ground, ground.counts.sample >= 0)
        return
    low, high = tree.bounds
    for box in range(len(tree)):
        found = gains(ground, growth, low[box], high[box])
        if tree.part[box] < 0:
            assert not found
        else:
            chosen = int(tree.column[box]), int(tree.cut[box])
            assert found[chosen] >= max(found.values()) - 1e-9


def test_a_gap_is_cut_in_its_middle_whatever_the_sample_counts_beside_it():
    def cut_of(sample):
        ground = small_ground(0, sizes=(21,), limited=False)
        counts = ground.counts
        sample = np.array(sample, dtype=float)
        codes = np.array([[2], [12]], np.int32)
        counts = type(counts)((21,), codes, sample, sample.copy(), np.zeros((2, 0)))
        return grow_tree(TreeGround(counts, Constraints()), GROWTHS[0], loss_weight=0.5).tree.cut[0]

    assert cut_of([1, 9]) == cut_of([9, 1]) == cut_of([5, 5]) == 6


def test_null_is_cut_off_by_itself():
    ground = small_ground(0, sizes=(21,), limited=False)
    ones = np.ones(2)
    codes = np.array([[2], [20]], np.int32)
    counts = type(ground.counts)((21,), codes, ones, ones.copy(), np.zeros((2, 0)))
    tree = grow_tree(
        TreeGround(counts, Constraints(), nullable=(True,)), GROWTHS[0], loss_weight=0.5
    )
    assert tree.tree.cut[0] == 19


@pytest.mark.parametrize(
    "asked",
    [Constraints(k=1000), Constraints(max_risk=1e-4)],
)
def test_what_one_box_of_all_breaks_is_infeasible(asked):
    ground = small_ground(1, limited=False)
    with pytest.raises(InfeasibleError):
        grow_tree(TreeGround(ground.counts, asked), GROWTHS[0], loss_weight=0.5)


def test_more_values_than_a_sensitive_column_has_are_infeasible():
    ground = small_ground(1, limited=False)
    values = np.column_stack([ground.counts.sample, ground.counts.sample * 0])
    wide = TreeGround(ground.counts, Constraints(), (BoxDiversity(values, distinct=2),))
    with pytest.raises(InfeasibleError, match="l-diversity"):
        grow_tree(wide, GROWTHS[0], loss_weight=0.5)


def test_cuts_that_every_policy_must_keep_are_refused():
    ground = small_ground(1, limited=False)
    required = np.zeros(sum(ground.counts.sizes) - 3, dtype=bool)
    required[0] = True
    with pytest.raises(RequestError, match="--family global"):
        grow_tree(
            TreeGround(ground.counts, Constraints(required=required)), GROWTHS[0], loss_weight=0.5
        )


def test_t_closeness_of_the_boxes_is_that_of_the_release():
    ground = small_ground(7, sizes=(6, 3, 3), limited=False)
    rng = np.random.default_rng(0)
    values = ground.counts.sample[:, None] * rng.dirichlet(np.ones(3), len(ground.counts.sample))
    for ordered in (False, True):
        close = TreeGround(
            ground.counts, Constraints(), (BoxDiversity(values, t=0.2, ordered=ordered),)
        )
        tree = grow_tree(close, GROWTHS[0], loss_weight=0.5).tree
        box = tree.place(ground.counts.codes)
        held = np.array([values[box == one].sum(0) for one in tree.leaves])
        assert len(held) > 1
        assert t_closeness(held, ordered=ordered) <= 0.2 + 1e-9
