"""A chain that scores few merges: exact, from end to end, and worth its evaluations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.fitting.searches.runs import run_of

from voile.tables.fitting.searches.run import TablesSearchLimit
from voile.tables.fitting.searches.sketch import sketch
from voile.tables.fitting.searches.steepest import descend


@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 5, 40]),
    st.sampled_from([{}, {"k": 2, "suppress": 0.5}]),
)
@settings(max_examples=40, deadline=None)
def test_scores_exactly_and_ends_at_the_top(small_space, seed, block, limits):
    space = small_space(seed, sizes=(12, 2, 5), **limits)
    required = np.random.default_rng(seed).random(16) < 0.2
    space.evaluator.required[:] = required
    run = run_of(space)
    sketch(run, block)
    found = run.frontier()
    scores = space.evaluator.scores(found.policies)
    assert space.evaluator.feasible(found.policies, scores).all()
    np.testing.assert_allclose(found.risk, scores.risk, atol=1e-10)
    np.testing.assert_allclose(found.loss, scores.loss, atol=1e-10)
    top = space.evaluator.scores(required[None])
    if top.suppressed[0] <= space.evaluator.constraints.suppress:
        assert found.risk[0] <= top.risk[0] + 1e-11


def test_with_a_block_of_all_cuts_it_is_the_steepest_chain(small_space):
    for seed in range(5):
        one, other = (run_of(small_space(seed, sizes=(12, 2, 5))) for _ in range(2))
        sketch(one, 16)
        descend(other, np.ones(16, dtype=bool), rescue=False)
        np.testing.assert_array_equal(one.frontier().risk, other.frontier().risk)
        assert one.evaluations == other.evaluations + 16


def test_makes_more_of_few_evaluations_than_the_steepest_chain(small_space):
    for seed in range(4):
        space = small_space(seed, sizes=(80, 2, 5))
        sketched = run_of(space)
        sketched.begin()
        sketch(sketched, 8)
        assert sketched.evaluations < 84 * 12
        plain = run_of(space, evaluations=sketched.evaluations)
        plain.begin()
        with pytest.raises(TablesSearchLimit):
            descend(plain, np.ones(84, dtype=bool), rescue=False)
        assert sketched.frontier().area() < plain.frontier().area()
