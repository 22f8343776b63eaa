"""A search goes on from another's frontier, whose scores it does not take on trust."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import METHODS, search
from voile.tables.people.counts import CombinationCounts, Constraints


@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator


SIZES = (24, 2, 5)
LIMITS = [{}, {"k": 2, "suppress": 0.5}]


def assert_own_scores(evaluator, frontier):
    scores = evaluator.scores(frontier.policies)
    assert evaluator.feasible(frontier.policies, scores).all()
    np.testing.assert_allclose(frontier.risk, scores.risk, atol=1e-9)
    np.testing.assert_allclose(frontier.loss, scores.loss, atol=1e-9)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exhaustive"])
@pytest.mark.parametrize("limits", LIMITS)
def test_nothing_of_the_start_is_lost(small_space, method, limits):
    space = small_space(3, sizes=SIZES, **limits)
    start = search(space, evaluations=3000).frontier
    found = search(space, method=method, start=start, evaluations=400, random_state=0).frontier
    assert found.area() <= start.area() + 1e-12
    assert found.area(log=True) <= start.area(log=True) + 1e-12
    assert_own_scores(space.evaluator, found)


def test_goes_on_from_where_it_stopped(small_space):
    chain = 64 * 65 // 2  # the steepest one is walked again
    for seed in range(4):
        space = small_space(seed, sizes=(60, 2, 5))
        first = search(space, evaluations=3_000).frontier
        again = search(space, evaluations=3_000 + chain, start=first).frontier
        assert again.area() < first.area()


@given(st.integers(0, 2**32), st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_another_tables_scores_are_not_believed(small_space, seed, other):
    space = small_space(seed, sizes=SIZES)
    start = search(small_space(other, sizes=SIZES), method="steepest").frontier
    result = search(space, method="steepest", start=start)
    assert_own_scores(space.evaluator, result.frontier)


def test_what_is_believed_is_no_evaluation(small_space):
    space = small_space(5, sizes=(60, 2, 5))
    start = search(space, evaluations=6_000).frontier
    assert len(start) > 64
    plain = search(space, method="steepest")
    assert search(space, method="steepest", start=start).evaluations == plain.evaluations + 64
    wrong = Frontier.of(start.risk, start.loss * 0.999, start.policies)
    scored = search(space, method="steepest", start=wrong)
    assert scored.evaluations == plain.evaluations + len(wrong)
    assert_own_scores(space.evaluator, scored.frontier)


def test_where_records_are_suppressed_no_score_is_believed():
    """Only the bottom of this chain breaks k, and it is not among the first 64 scored."""
    sample = np.append(np.full(65, 2.0), [2.0, 1.0])
    codes = np.arange(67, dtype=np.int32)[:, None]
    counts = CombinationCounts((67,), codes, sample, sample, np.zeros((67, 0)))
    chain = np.tri(66, dtype=bool)
    start = Frontier.of(*PolicyEvaluator(counts).evaluate(chain), chain)
    assert len(start) == 66
    space = Space(PolicyEvaluator(counts, Constraints(k=2)))
    found = search(space, method="random-chain", evaluations=200, start=start).frontier
    assert_own_scores(space.evaluator, found)


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_drops_what_is_not_allowed_now(small_space, seed):
    rng = np.random.default_rng(seed)
    start = search(small_space(seed, sizes=SIZES), method="steepest").frontier
    required, forbidden = (rng.random(28) < 0.1 for _ in range(2))
    limits = {"k": 2, "suppress": 0.4, "required": required & ~forbidden, "forbidden": forbidden}
    space = small_space(seed, sizes=SIZES, **limits)
    try:
        found = search(space, method="steepest", start=start).frontier
    except InfeasibleError:
        return
    assert_own_scores(space.evaluator, found)


def test_refuses_policies_of_another_table(small_space):
    start = search(small_space(1), method="steepest").frontier
    with pytest.raises(RequestError, match=r"not of this table's .* 28 booleans"):
        search(small_space(1, sizes=SIZES), start=start)
    numbers = Frontier.of([0.5], [0.5], np.zeros((1, 6)))
    with pytest.raises(RequestError, match="not of this table's"):
        search(small_space(1), start=numbers)


def test_an_empty_start_is_none(small_space):
    space = small_space(1)
    empty = Frontier.of([], [], np.zeros((0, 6), dtype=bool))
    one, other = search(space, start=empty), search(space)
    assert one.frontier.risk.tolist() == other.frontier.risk.tolist()
    assert one.evaluations == other.evaluations
