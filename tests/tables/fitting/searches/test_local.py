"""Local search ends where no policy one cut away would enter the frontier."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.fitting.searches.runs import assert_scores_as_from_scratch, run_of

from voile.tables.fitting.searches.local import FrontierNeighbourhood, explore

seeds = st.integers(0, 2**32)


@given(seeds, st.sampled_from([{}, {"k": 3, "max_risk": 0.5, "suppress": 0.3}]))
@settings(max_examples=30, deadline=None)
def test_no_neighbour_enters(small_space, seed, limits):
    space = small_space(seed, sizes=(10, 2, 4), **limits)
    evaluator = space.evaluator
    run = run_of(space)
    try:
        run.begin()
    except ValueError:  # no policy is feasible
        return
    explore(run)
    found = run.frontier()
    assert_scores_as_from_scratch(evaluator, found)
    for policy in found.policies:
        rows = policy ^ np.eye(evaluator.n_bits, dtype=bool)
        scores = evaluator.scores(rows)
        feasible = scores.suppressed <= evaluator.constraints.suppress + 1e-9
        for risk, loss in zip(scores.risk[feasible], scores.loss[feasible], strict=True):
            assert ((found.risk <= risk + 1e-11) & (found.loss <= loss + 1e-11)).any()


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_going_on_twice_no_policy_two_cuts_away_enters(small_space, seed):
    evaluator = (space := small_space(seed, sizes=(5, 2, 4))).evaluator
    run = run_of(space)
    run.begin()
    FrontierNeighbourhood(run).flip(twice=True)
    found, one = run.frontier(), np.eye(evaluator.n_bits, dtype=bool)
    pairs = np.unique((one[:, None] | one).reshape(-1, evaluator.n_bits), axis=0)
    for policy in found.policies:
        for risk, loss in zip(*evaluator.evaluate(policy ^ pairs), strict=True):
            assert ((found.risk <= risk + 1e-11) & (found.loss <= loss + 1e-11)).any()


def test_keeps_to_required_cuts(small_space):
    required = np.zeros(6, dtype=bool)
    required[3] = True
    run = run_of(small_space(1, required=required))
    run.begin()
    explore(run)
    assert run.frontier().policies[:, 3].all()


def test_one_attribute_of_two_values(small_space):
    run = run_of(small_space(2, sizes=(2,)))
    run.begin()
    explore(run)
    assert len(run.frontier()) <= 2
