"""What every method keeps, and what each promises."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.paper.bisect import BisectSearch
from voile.tables.fitting.paper.sublattice import SublatticeSearch
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import METHODS, FewFoundWarning, search
from voile.tables.people.counts import CombinationCounts, Constraints


@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator


seeds = st.integers(0, 2**32)
everywhere = pytest.mark.parametrize("method", METHODS)


def brute_force(evaluator):
    """Score every policy, keep the feasible ones that nothing beats."""
    n = evaluator.n_bits
    policies = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(bool)
    scores = evaluator.scores(policies)
    allowed = evaluator.feasible(policies, scores)
    return Frontier.of(
        scores.risk[allowed].round(12), scores.loss[allowed].round(12), policies[allowed]
    )


def some_cuts(seed, n_bits=6):
    required, forbidden = np.zeros(n_bits, dtype=bool), np.zeros(n_bits, dtype=bool)
    one, other = np.random.default_rng(seed).choice(n_bits, 2, replace=False)
    required[one] = forbidden[other] = True
    return {"required": required, "forbidden": forbidden}


def assert_same(found, wanted):
    np.testing.assert_allclose(found.risk, wanted.risk, atol=2e-12)
    np.testing.assert_allclose(found.loss, wanted.loss, atol=2e-12)


@given(seeds, st.booleans(), st.sampled_from([{}, {"k": 3, "suppress": 0.3}]))
@settings(max_examples=40, deadline=None)
def test_exhaustive_finds_the_frontier_of_all_policies(small_space, seed, cuts, limits):
    space = small_space(seed, **limits, **(some_cuts(seed) if cuts else {}))
    wanted = brute_force(space.evaluator)
    if not len(wanted):
        with pytest.raises(InfeasibleError):
            search(space, method="exhaustive")
        return
    result = search(space, method="exhaustive")
    assert_same(result.frontier, wanted)
    assert result.evaluations == 2 ** (4 if cuts else 6)
    assert result.stopped == "finished"


@everywhere
@given(seed=seeds)
@settings(max_examples=25, deadline=None)
def test_only_feasible_policies_with_their_own_scores(small_space, method, seed):
    space = small_space(seed, k=2, max_risk=0.5, suppress=0.4, **some_cuts(seed))
    evaluator = space.evaluator
    try:
        found = search(space, method=method, random_state=seed).frontier
    except InfeasibleError:
        assert not len(brute_force(evaluator))
        return
    scores = evaluator.scores(found.policies)
    assert len(found)
    assert evaluator.feasible(found.policies, scores).all()
    np.testing.assert_allclose(found.risk, scores.risk, atol=1e-9)
    np.testing.assert_allclose(found.loss, scores.loss, atol=1e-9)


@everywhere
@given(seed=seeds)
@settings(max_examples=15, deadline=None)
def test_never_beats_the_exact_frontier(small_space, method, seed):
    space = small_space(seed)
    exact = brute_force(space.evaluator)
    found = search(space, method=method, random_state=seed).frontier
    both = exact.merge(found)
    assert_same(both, exact)
    assert found.area() >= exact.area() - 1e-9
    assert found.at(loss=1).risk == pytest.approx(exact.at(loss=1).risk)  # the top is there
    assert found.at(risk=1).loss == pytest.approx(exact.at(risk=1).loss)  # so is the bottom


def test_steepest_comes_close_to_the_exact_area(small_space):
    ratios = []
    for seed in range(12):
        space = small_space(seed, sizes=(4, 3, 4))
        found = search(space, method="steepest").frontier
        ratios.append(found.area() / brute_force(space.evaluator).area())
    assert np.mean(ratios) < 1.1


def test_where_records_may_be_suppressed_a_second_chain_is_walked(small_space):
    assert search(small_space(0), method="steepest").evaluations == 2 + 21
    suppressing = small_space(0, k=2, suppress=0.9)
    assert search(suppressing, method="steepest").evaluations == 2 + 2 * 21


@everywhere
def test_the_same_seed_gives_the_same_frontier(small_space, method):
    one, other = (search(small_space(3), method=method, random_state=7) for _ in range(2))
    assert one.frontier.risk.tolist() == other.frontier.risk.tolist()
    assert one.frontier.policies.tolist() == other.frontier.policies.tolist()
    assert one.history.area.tolist() == other.history.area.tolist()


def test_another_seed_walks_another_chain(small_space):
    areas = {
        search(small_space(3), method="random-chain", evaluations=7, random_state=seed)
        .history.area[-1]
        .item()
        for seed in range(8)
    }
    assert len(areas) > 1


@everywhere
@pytest.mark.parametrize("evaluations", [7, 8, 11])
def test_stops_at_the_evaluations_asked_for(small_space, method, evaluations):
    result = search(small_space(1), method=method, evaluations=evaluations, random_state=0)
    assert result.evaluations == evaluations
    assert result.stopped == "evaluations"
    assert result.history.evaluations[-1] == evaluations


@pytest.mark.parametrize("method", [*METHODS, SublatticeSearch(threshold=0.5), BisectSearch(0.9)])
def test_every_search_announces_fewer_evaluations_than_one_chain_has(small_space, method):
    with pytest.raises(RequestError, match="at least 1"):
        search(small_space(1), method=method, evaluations=0)
    space, general = small_space(1), None
    for evaluations in (1, 3, 6):
        with pytest.warns(FewFoundWarning, match=r"length of one chain of policies \(7\)"):
            found = search(space, method=method, evaluations=evaluations)
        assert found.evaluations == evaluations
        general = found.frontier.policies[0] if general is None else general
        assert (found.frontier.policies[0] == general).all()
    assert not general.any()
    with pytest.warns(FewFoundWarning, match=r"\(4\) is below .* \(5\)"):
        search(small_space(1, **some_cuts(0)), method=method, evaluations=4)
    assert search(small_space(1, **some_cuts(0)), method=method, evaluations=5).evaluations == 5


def test_a_random_chain_goes_on_as_long_as_it_is_told(small_space):
    result = search(small_space(1), method="random-chain", evaluations=1000, random_state=0)
    assert result.evaluations == 1000
    assert search(small_space(1), method="random-chain").evaluations == 2 + 20 * 5


@everywhere
def test_stops_when_its_seconds_are_over(small_space, method):
    result = search(small_space(1), method=method, seconds=1e-9)
    assert result.stopped == "seconds"
    assert len(result.frontier)


@everywhere
def test_an_interrupted_search_returns_what_it_has(small_space, method):
    seen = []

    def interrupt(checkpoint):
        seen.append(checkpoint)
        if len(seen) == 2:
            raise KeyboardInterrupt

    result = search(small_space(1), method=method, progress=interrupt, random_state=0)
    assert result.stopped == "interrupted"
    assert result.evaluations == seen[-1].evaluations
    assert len(result.frontier)


@everywhere
def test_history_falls_in_area_and_rises_in_evaluations(small_space, method):
    history = search(small_space(2), method=method, random_state=0).history
    assert (np.diff(history.evaluations) > 0).all()
    assert (np.diff(history.area) <= 0).all()
    assert (np.diff(history.seconds) >= 0).all()


@everywhere
def test_a_lattice_of_one_policy(small_space, method):
    for cuts in ({"required": np.ones(6, bool)}, {"forbidden": np.ones(6, bool)}):
        found = search(small_space(5, **cuts), method=method).frontier
        assert len(found) == 1
        assert found.policies.all() == ("required" in cuts)


def test_names_the_constraint_that_is_furthest_from_being_met(small_space):
    with pytest.raises(InfeasibleError, match=r"suppresses 100\.0% .* 5\.0% may be; k = 9999 is"):
        search(small_space(0, k=9999, max_risk=0.9, suppress=0.05))
    with pytest.raises(InfeasibleError, match=r"l_diversity = 5 is furthest"):
        search(small_space(0, l_diversity=5))


def test_names_the_constraints_that_can_only_be_met_apart():
    """Of ten subjects k drops two, max_risk four others; half may be dropped."""
    counts = CombinationCounts(
        sizes=(3,),
        codes=np.array([[0], [1], [2]], dtype=np.int32),
        sample=np.array([2.0, 4.0, 4.0]),
        population=np.array([50.0, 4.0, 90.0]),
        sensitive=np.zeros((3, 0)),
    )
    limits = {"k": 3, "max_risk": 0.2, "required": np.ones(2, dtype=bool)}
    with pytest.raises(InfeasibleError, match=r"k = 3 and max_risk = 0\.2 can only be met apart"):
        search(Space(PolicyEvaluator(counts, Constraints(**limits, suppress=0.5))))
    with pytest.raises(InfeasibleError, match=r"max_risk = 0\.2 is furthest from being met"):
        search(Space(PolicyEvaluator(counts, Constraints(**limits, suppress=0.3))))
    assert len(search(Space(PolicyEvaluator(counts, Constraints(**limits, suppress=0.6)))).frontier)


def test_refuses_what_it_cannot_do(small_space):
    space = small_space(0)
    with pytest.raises(RequestError, match="no method 'steep'; did you mean steepest"):
        search(space, method="steep")
    for seconds in (0, -1, float("nan")):
        with pytest.raises(RequestError, match="seconds"):
            search(space, seconds=seconds)
    with pytest.raises(RequestError, match=r"2\*\*22 policies"):
        search(small_space(0, sizes=(12, 12)), method="exhaustive")
