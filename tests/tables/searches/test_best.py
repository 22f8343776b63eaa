"""The best search finds whole frontiers where they are known, and stops when told."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.tables.searches import search
from voile.tables.searches.best import explore
from voile.tables.searches.run import Limit, Run
from voile.tables.searches.steepest import descend

LIMITS = [{}, {"k": 2, "suppress": 0.5}, {"k": 2, "l_diversity": 2, "suppress": 0.99}]


def run_of(space, **limits):
    none = {"evaluations": None, "seconds": None, "progress": None}
    return Run(space.evaluator, rng=np.random.default_rng(0), **(none | limits))


def assert_scores_as_from_scratch(evaluator, frontier):
    risk, loss = evaluator.evaluate(frontier.policies)
    np.testing.assert_allclose(frontier.risk, risk, atol=1e-10)
    np.testing.assert_allclose(frontier.loss, loss, atol=1e-10)


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
        found, wanted = run.frontier(), search(space, strategy="exhaustive").frontier
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
        with pytest.raises(Limit, match="evaluations"):
            begin_and_explore(run)
        assert run.evaluations == evaluations
        assert len(run.frontier())


def test_the_same_twice(small_space):
    runs = [run_of(small_space(9, sizes=(13, 2, 5))) for _ in range(2)]
    for run in runs:
        run.begin()
        explore(run)
    one, other = (run.frontier() for run in runs)
    np.testing.assert_array_equal(one.policies, other.policies)
    assert runs[0].evaluations == runs[1].evaluations
    assert_scores_as_from_scratch(runs[0].evaluator, one)
