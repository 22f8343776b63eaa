"""Each chain gives its most detailed policy of a risk no higher than asked for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError, RequestError
from voile.tables.fitting.paper.bisect import BisectSearch
from voile.tables.fitting.searches.run import TablesSearchLimit, TablesSearchRun

seeds = st.integers(0, 2**32)


def run_of(space, seed, evaluations=None):
    rng = np.random.default_rng(seed)
    run = TablesSearchRun(
        space.evaluator, evaluations=evaluations, seconds=None, rng=rng, progress=None
    )
    run.begin()
    return run


def a_risk(evaluator, seed):
    """Return the risk of a random policy, which can then be asked for."""
    policy = np.random.default_rng(seed).random((1, evaluator.n_bits)) < 0.5
    return float(evaluator.evaluate(policy)[0][0])


@given(seeds, st.sampled_from(["bits", "attributes"]))
@settings(max_examples=60, deadline=None)
def test_finds_the_chains_last_policy_of_enough_generality(small_space, seed, order):
    space = small_space(seed)
    evaluator, risk = space.evaluator, a_risk(space.evaluator, seed)
    found = list(BisectSearch(risk, order=order).alternatives(run_of(space, seed)))
    assert len(found) == 20
    risks, _ = evaluator.evaluate(np.array(found))
    assert (risks <= risk).all()
    for policy in found:  # the chain goes on to a policy with one more cut, riskier
        more = np.tile(policy, (evaluator.n_bits, 1)) | np.eye(evaluator.n_bits, dtype=bool)
        above, _ = evaluator.evaluate(more[~policy])
        assert policy.all() or (above > risk).any()


def test_needs_about_log2_evaluations_a_chain(small_space):
    space = small_space(0, sizes=(9, 9, 9))
    run = run_of(space, 0)
    before = run.evaluations
    BisectSearch(a_risk(space.evaluator, 1))(run)
    chains = (run.evaluations - before - 1) / 20
    assert chains <= np.ceil(np.log2(24 + 1))


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_where_records_are_suppressed_what_is_found_keeps_to_the_risk(small_space, seed):
    space = small_space(seed, k=2, suppress=0.4)
    evaluator = space.evaluator
    try:
        run = run_of(space, seed)
        found = np.array(list(BisectSearch(0.6).alternatives(run)))
    except InfeasibleError:
        return
    scores = evaluator.scores(found)
    assert (scores.risk <= 0.6).all()
    assert evaluator.feasible(found, scores).all()


def test_keeps_required_cuts_and_stops_at_its_limit(small_space):
    required = np.array([True, False, False, False, False, True])
    space = small_space(2, required=required)
    run = run_of(space, 0, evaluations=50)
    top = float(space.evaluator.evaluate(required[None])[0][0])
    found = []
    with pytest.raises(TablesSearchLimit):
        found.extend(BisectSearch(top).alternatives(run))
    assert run.evaluations == 50
    assert run.frontier().policies[:, required].all()


def test_any_risk_gives_the_bottom(small_space):
    for policy in BisectSearch(1.0).alternatives(run_of(small_space(3), 0)):
        assert policy.all()


def test_refuses_what_cannot_be_had(small_space):
    with pytest.raises(InfeasibleError, match=r"a risk of at most 0; the most general has"):
        BisectSearch(0.0)(run_of(small_space(0), 0))
    for risk in (-0.1, 1.1, float("nan")):
        with pytest.raises(RequestError, match="risk must lie between 0 and 1"):
            BisectSearch(risk)
