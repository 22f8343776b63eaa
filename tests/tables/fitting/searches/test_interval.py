"""The shortest path over intervals is the best partition of all; everything scored is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.tables.fitting.searches.runs import assert_scores_as_from_scratch, run_of

from voile.core.errors import InfeasibleError
from voile.tables.fitting.kernels.interval import flips
from voile.tables.fitting.kernels.scratch import by_lead, score
from voile.tables.fitting.search import search
from voile.tables.fitting.searches.interval import (
    SearchAim,
    attributes_of,
    explore,
    improve_attribute,
    settle,
)

seeds = st.integers(0, 2**32)
limits = st.fixed_dictionaries(
    {
        "k": st.sampled_from([1, 3]),
        "max_risk": st.sampled_from([1.0, 0.2]),
        "l_diversity": st.sampled_from([1, 2]),
        "entropy_l": st.sampled_from([1.0, 1.0, 1.6]),
        "t_closeness": st.sampled_from([1.0, 1.0, 0.4]),
        "columns": st.sampled_from([(), (2, 2)]),
        "suppress": st.just(0.99),
    }
)
aims = st.builds(SearchAim, st.sampled_from([0.01, 0.5, 1.0, 30.0]), st.sampled_from([0.0, 2.0]))


def bits_of(numbers, n):
    return ((numbers[:, None] >> np.arange(n)) & 1).astype(bool)


@given(seeds, limits, aims)
@settings(max_examples=40, deadline=None)
def test_the_shortest_path_is_the_best_of_all_partitions(small_space, seed, limits, aim):
    rng = np.random.default_rng(seed)
    space = small_space(seed, **limits)
    evaluator = space.evaluator
    policy = rng.random(evaluator.n_bits) < 0.5
    evaluator.required[:] = rng.random(evaluator.n_bits) < 0.2
    policy |= evaluator.required
    run = run_of(space)
    for attribute in attributes_of(run):
        value, found = improve_attribute(run, attribute, policy, aim)
        size = attribute.bits.stop - attribute.bits.start
        rows = np.tile(policy, (2**size, 1))
        rows[:, attribute.bits] = bits_of(np.arange(2**size), size)
        rows = rows[rows[:, evaluator.required].all(axis=1)]
        rows = np.concatenate([found[None], rows])
        scores = evaluator.scores(rows)
        most = evaluator.rules.wholly_lost * evaluator.subjects
        nats = score(by_lead(evaluator.cells), evaluator.rules, rows)[:, 1]
        objective = aim.weight * scores.risk + aim.penalty * scores.suppressed
        objective += nats / most if most > 0 else 0.0  # a loss is at most 1, its nats are not
        assert value == pytest.approx(objective[0], abs=1e-9)
        assert value <= objective.min() + 1e-9
        assert (rows[0] >= evaluator.required).all()


@given(seeds, limits)
@settings(max_examples=40, deadline=None)
def test_a_flip_scores_as_from_scratch(small_space, seed, limits):
    evaluator = small_space(seed, **limits).evaluator
    policy = np.random.default_rng(seed).random(evaluator.n_bits) < 0.5
    sums, bit = np.empty((evaluator.n_bits, 3)), 0
    for d, size in enumerate(evaluator.cells.sizes):
        cells = by_lead(evaluator.cells, d)
        flips(cells, evaluator.rules, policy, sums[bit : bit + size - 1])
        bit += size - 1
    found = evaluator.normalise(sums)
    wanted = evaluator.scores(policy ^ np.eye(evaluator.n_bits, dtype=bool))
    for name in ("risk", "loss", "suppressed"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-10)


@given(seeds, limits)
@settings(max_examples=20, deadline=None)
def test_what_is_found_is_scored_exactly_and_beaten_by_nothing_from_steepest(
    small_space, seed, limits
):
    space = small_space(seed, **limits)
    run = run_of(space)
    try:
        run.begin()
    except InfeasibleError:
        reject()
    explore(run)
    frontier = run.frontier()
    assert_scores_as_from_scratch(space.evaluator, frontier)
    steepest = search(space, method="steepest").frontier
    for risk, loss in zip(steepest.risk, steepest.loss, strict=True):
        assert ((frontier.risk <= risk + 1e-11) & (frontier.loss <= loss + 1e-11)).any()


def test_settles_where_no_attribute_can_be_bettered(small_space):
    for seed in range(10):
        space = small_space(seed)
        run, aim = run_of(space), SearchAim(1.0, 0.0)
        run.begin()
        attributes = attributes_of(run)
        settled, policy = settle(run, attributes, run.best_for(1.0), aim)
        risk, loss = space.evaluator.evaluate(policy[None])
        assert settled == pytest.approx(risk[0] + loss[0], abs=1e-8)
        for attribute in attributes:
            value, _ = improve_attribute(run, attribute, policy, aim)
            assert value == pytest.approx(risk[0] + loss[0], abs=1e-8)


def test_counts_an_evaluation_for_every_interval(small_space):
    run = run_of(small_space(3, sizes=(4, 2)))
    for attribute, intervals in zip(attributes_of(run), (10, 3), strict=True):
        before = run.evaluations
        improve_attribute(run, attribute, np.zeros(4, dtype=bool), SearchAim(1.0, 0.0))
        assert run.evaluations - before == intervals


def test_keeps_to_forbidden_and_required_cuts(small_space):
    required, forbidden = np.zeros(6, dtype=bool), np.zeros(6, dtype=bool)
    required[[0, 2]], forbidden[[1, 4]] = True, True
    run = run_of(small_space(5, required=required, forbidden=forbidden))
    run.begin()
    explore(run)
    policies = run.frontier().policies
    assert policies[:, [0, 2]].all()
    assert not policies[:, [1, 4]].any()


def test_near_intervals_take_in_the_policys_own_and_grow_with_them(small_space):
    (attribute,) = attributes_of(run_of(small_space(6, sizes=(40,))))
    policy = np.zeros(39, dtype=bool)
    policy[[9, 19, 29]] = True  # four intervals of ten values
    assert (attribute.near(policy).last == 39).all()
    policy[:] = True
    near = attribute.near(policy).last
    np.testing.assert_array_equal(near, np.minimum(np.arange(40) + 7, 39))
    policy[[20, 21, 22]] = False  # one interval of four values, from 20 to 23
    assert attribute.near(policy).last[20] == 27
    assert attribute.near(policy)._replace(last=attribute.last) == attribute


def test_near_intervals_go_over_no_required_cut(small_space):
    required = np.zeros(39, dtype=bool)
    required[4] = True
    (attribute,) = attributes_of(run_of(small_space(6, sizes=(40,), required=required)))
    policy = required.copy()
    assert (attribute.near(policy).last[:5] == 4).all()


@given(seeds, aims)
@settings(max_examples=30, deadline=None)
def test_among_near_intervals_a_policy_never_gets_worse(small_space, seed, aim):
    space = small_space(seed, sizes=(24, 2, 3))
    run, rng = run_of(space), np.random.default_rng(seed)
    policy = rng.random(run.n_bits) < 0.5
    value, found = settle(run, attributes_of(run), policy, aim, near=True)
    risk, loss = space.evaluator.evaluate(np.stack([policy, found]))
    costs = loss + aim.weight * risk
    assert value == pytest.approx(costs[1], abs=1e-9)
    assert costs[1] <= costs[0] + 1e-9
