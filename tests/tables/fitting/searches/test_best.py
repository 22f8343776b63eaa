"""The best search finds whole frontiers where they are known, and stops when told."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from tests.tables.fitting.searches.runs import assert_scores_as_from_scratch, run_of

from voile.core.errors import InfeasibleError
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.fitting.searches import quick
from voile.tables.fitting.searches.best import explore, seek
from voile.tables.fitting.searches.run import TablesSearchLimit
from voile.tables.fitting.searches.steepest import descend
from voile.tables.people.counts import CombinationCounts


@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator


LIMITS = [{}, {"k": 2, "suppress": 0.5}, {"k": 2, "l_diversity": 2, "suppress": 0.99}]


def begin_and_explore(run):
    run.begin()
    explore(run)


@pytest.mark.parametrize("limits", LIMITS)
def test_finds_the_whole_frontier_of_small_lattices(small_space, limits):
    for seed in range(12):
        space = small_space(seed, sizes=(5, 2, 4), **limits)
        run = run_of(space)
        run.begin()
        explore(run)
        found, wanted = run.frontier(), search(space, method="exhaustive").frontier
        np.testing.assert_allclose(found.risk, wanted.risk, atol=1e-10)
        np.testing.assert_allclose(found.loss, wanted.loss, atol=1e-10)


@given(st.integers(0, 2**32), st.sampled_from(LIMITS))
@settings(max_examples=30, deadline=None)
def test_a_descent_scores_exactly_and_stays_below_its_policy(small_space, seed, limits):
    space = small_space(seed, **limits)
    rng = np.random.default_rng(seed)
    space.evaluator.required[:] = rng.random(6) < 0.2
    policy = (rng.random(6) < 0.7) | space.evaluator.required
    run = run_of(space)
    descend(run, policy, rescue=space.evaluator.rules.active)
    assert_scores_as_from_scratch(space.evaluator, run.frontier())
    assert (run.frontier().policies <= policy).all()
    assert (run.frontier().policies >= space.evaluator.required).all()
    free = int((policy & ~space.evaluator.required).sum())
    assert run.evaluations == free * (free + 1) // 2


def test_stops_at_its_limits_and_keeps_what_it_has(small_space):
    space = small_space(7, sizes=(13, 2, 5))
    for evaluations in (2, 3, 40, 200, 3000):
        run = run_of(space, evaluations=evaluations)
        with pytest.raises(TablesSearchLimit, match="evaluations"):
            begin_and_explore(run)
        assert run.evaluations == evaluations
        assert len(run.frontier())


@given(st.integers(0, 2**32), st.sampled_from(LIMITS), st.booleans())
@settings(max_examples=15, deadline=None)
def test_without_scoring_all_it_is_near_the_optimum_and_not_above_steepest(
    small_space, seed, limits, cuts
):
    space = small_space(seed, sizes=(6, 2, 4), **limits)
    if cuts:
        rng = np.random.default_rng(seed)
        space.evaluator.required[:] = rng.random(9) < 0.2
    try:
        whole = search(space, method="exhaustive").frontier
    except InfeasibleError:
        reject()
    run = run_of(space)
    run.begin()
    seek(run)
    found = run.frontier()
    assert_scores_as_from_scratch(space.evaluator, found)
    steepest = search(space, method="steepest").frontier
    assert found.area() <= steepest.area() + 1e-11
    assert found.area() <= whole.area() + 1e-3


@pytest.mark.whole
def test_a_run_limited_by_seconds_is_repeated_by_its_evaluations(small_space):
    space = small_space(11, sizes=(70, 2, 5))
    for seconds in (0.02, 0.1, 0.5):
        timed = search(space, seconds=seconds)
        again = search(space, evaluations=timed.evaluations)
        np.testing.assert_array_equal(timed.frontier.risk, again.frontier.risk)
        np.testing.assert_array_equal(timed.frontier.policies, again.frontier.policies)


def test_the_same_twice(small_space):
    one, other = (search(small_space(9, sizes=(13, 2, 5)), evaluations=9_000) for _ in range(2))
    np.testing.assert_array_equal(one.frontier.policies, other.frontier.policies)
    assert_scores_as_from_scratch(small_space(9, sizes=(13, 2, 5)).evaluator, one.frontier)


def test_ends_by_itself(small_space):
    result = search(small_space(2, sizes=(9, 2, 9)))
    assert result.stopped == "finished"
    assert result.evaluations < 2**17


def town(seed):
    """Make 48 cuts over 20,000 people, unevenly spread, and a sample of 3% of them."""
    rng, sizes = np.random.default_rng(seed), (20, 2, 30)
    one, two, three = (rng.dirichlet(np.full(size, 0.7)) for size in sizes)
    people = rng.poisson((one[:, None, None] * two[:, None] * three).ravel() * 20_000) * 1.0
    sample = rng.binomial(people.astype(int), 0.03) * 1.0
    codes = np.stack(np.unravel_index(np.arange(1200), sizes), axis=1).astype(np.int32)
    return Space(
        PolicyEvaluator(CombinationCounts(sizes, codes, sample, people, np.zeros((1200, 0))))
    )


@pytest.mark.whole
@pytest.mark.parametrize(("evaluations", "other"), [(3_000, 3_000), (100_000, None)])
def test_weights_and_flips_together_find_what_neither_does(evaluations, other):
    """Few evaluations are better spent on weights than on flips; with many, both are needed."""
    for seed in (1, 2):
        space = town(seed)
        ours = search(space, evaluations=evaluations).frontier.area()
        assert ours < search(space, method="local", evaluations=other).frontier.area()
        if other is None:
            assert ours < search(space, method="interval").frontier.area()


@pytest.mark.whole
@pytest.mark.parametrize("limits", LIMITS)
def test_the_quick_search_finds_no_less_than_the_steepest_chain(small_space, limits):
    for seed in range(6):
        space = small_space(seed, sizes=(14, 2, 9), **limits)
        try:
            steepest = search(space, method="steepest").frontier
        except InfeasibleError:
            continue
        found = search(space, method="quick")
        for risk, loss in zip(steepest.risk, steepest.loss, strict=True):
            no_worse = (found.frontier.risk <= risk + 1e-11) & (found.frontier.loss <= loss + 1e-11)
            assert no_worse.any()
        again = search(space, method="quick", random_state=7)
        assert found.evaluations == again.evaluations
        np.testing.assert_array_equal(found.frontier.policies, again.frontier.policies)
        assert found.stopped == "finished"


def test_the_quick_search_ends_when_its_evaluations_are_made(small_space, monkeypatch):
    space = small_space(5, sizes=(14, 2, 9))
    whole = search(space, method="quick").evaluations
    monkeypatch.setattr(quick, "MOST", 500)
    chain = search(space, method="steepest").evaluations
    assert chain + 500 <= search(space, method="quick").evaluations < whole
