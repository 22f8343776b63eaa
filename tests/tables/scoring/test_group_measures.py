"""Our measures by hand, against another's mutual information, and as theorems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from voile.core.errors import RequestError
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.people.counts import CombinationCounts
from voile.tables.scoring.group_measures import (
    RecordGroups,
    compute_values,
    matches,
    mutual_information,
    small_groups,
)

seeds = st.integers(0, 2**32)
GROUPS = RecordGroups(np.array([2.0, 3.0, 1.0]), np.array([4.0, 20.0, 0.5]), np.ones(3))


def test_matches_by_hand():
    assert matches().each(GROUPS).tolist() == [0.5, 0.15, 1]
    assert matches(power=2).each(GROUPS).tolist() == [2 / 16, 3 / 400, 1]
    assert matches(power=0, under=20).each(GROUPS).tolist() == [2, 0, 1]
    assert small_groups().each(GROUPS).tolist() == [0.5, 0, 1]


def test_a_group_of_exactly_11_is_not_small():
    edge = RecordGroups(np.ones(2), np.array([11.0, 10.0]), np.ones(2))
    assert small_groups().each(edge).tolist() == [0, 0.1]


def mutual(counted):
    return mutual_info_score(None, None, contingency=counted.astype(np.int64))


def merged(counts, policy):
    """Sum an outcome's counts over the groups of a policy."""
    bits = np.split(policy, np.cumsum(np.array(counts.sizes) - 1)[:-1])
    columns = [np.concatenate([[0], np.cumsum(b)])[counts.codes[:, d]] for d, b in enumerate(bits)]
    keys = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1]
    return [
        np.stack([np.bincount(keys.ravel(), column) for column in counted.T], axis=1)
        for counted in counts.outcomes
    ]


@given(seeds)
@settings(max_examples=40, deadline=None)
def test_mutual_information_is_the_mean_share_lost(own, seed):
    counts, rng = own.counts(seed), np.random.default_rng(seed)
    shape = len(counts.sample), 3
    outcomes = tuple(np.ceil(counts.sample[:, None]) * rng.integers(0, 4, shape) for _ in range(2))
    counts = replace(counts, outcomes=outcomes)
    evaluator = PolicyEvaluator(counts, loss=mutual_information(outcomes))
    policies = np.random.default_rng(seed).random((5, 6)) < 0.5
    source = [mutual(counted) for counted in outcomes]
    known = [k for k in range(2) if source[k] > 1e-9]
    for policy, loss in zip(policies, evaluator.evaluate(policies)[1], strict=True):
        left = [mutual(counted) for counted in merged(counts, policy)]
        lost = [1 - left[k] / source[k] for k in known]
        assert loss == pytest.approx(np.mean(lost) if lost else 0.0, abs=1e-9)


def test_an_outcome_that_one_attribute_decides_keeps_what_the_others_lose():
    codes = np.array([[i, j] for i in range(2) for j in range(3)], dtype=np.int32)
    sample = np.array([1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    outcome = sample[:, None] * np.eye(2)[codes[:, 0]]
    counts = CombinationCounts((2, 3), codes, sample, sample.copy(), np.zeros((6, 0)), (outcome,))
    evaluator = PolicyEvaluator(counts, loss=mutual_information(counts.outcomes))
    policies = np.array([[1, 0, 0], [0, 1, 1]], dtype=bool)
    np.testing.assert_allclose(evaluator.evaluate(policies)[1], [0, 1], atol=1e-12)


def test_an_outcome_that_nothing_tells_of_loses_nothing():
    codes = np.array([[0], [1]], dtype=np.int32)
    even = np.array([[3.0, 1.0], [6.0, 2.0]])
    counts = CombinationCounts(
        (2,), codes, even.sum(1), even.sum(1), np.zeros((2, 0)), (even, even[:, :1])
    )
    evaluator = PolicyEvaluator(counts, loss=mutual_information(counts.outcomes))
    assert evaluator.evaluate(np.array([[False], [True]]))[1].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["weighed", "mutual", "eq. 2-4", "own", "outcomes"])
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_risks_fall_and_losses_rise_on_every_merge(own, name, seed):
    """Each of ours, and each that the tests call monotone, from each policy of a lattice."""
    counts = own.counts(seed)
    risk, loss = own.pairs(counts)[name]
    policies = ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(bool)
    found = PolicyEvaluator(counts, risk=risk, loss=loss).evaluate(policies)
    for bit in range(6):
        number = np.flatnonzero(policies[:, bit])
        fewer = number - (1 << bit)
        assert (found[0][fewer] <= found[0][number] + 1e-9).all()
        assert (found[1][fewer] >= found[1][number] - 1e-9).all()


def test_expected_matches_are_told_whatever_the_risk_is(own):
    counts = own.counts(5)
    plain = PolicyEvaluator(counts)
    other = PolicyEvaluator(counts, risk=matches(power=2), loss=mutual_information(counts.outcomes))
    policies = np.random.default_rng(0).random((9, 6)) < 0.5
    wanted = plain.scores(policies).risk * plain.matches
    for evaluator in (other, plain):
        np.testing.assert_allclose(evaluator.figures(policies).expected_matches, wanted)
    assert other.matches == pytest.approx(plain.matches)


def test_a_policy_without_small_groups_has_no_risk(own):
    counts = own.counts(2)
    counts = replace(counts, population=counts.population + 11)
    evaluator = PolicyEvaluator(counts, risk=small_groups())
    risk, loss = evaluator.evaluate(np.random.default_rng(0).random((9, 6)) < 0.5)
    assert not risk.any()
    assert loss.any()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: matches(power=-1), "power must be a number of 0 or more"),
        (lambda: matches(power=np.nan), "power must be a number of 0 or more"),
        (lambda: matches(under=1), "under must be more than 1"),
        (lambda: mutual_information(()), "needs an outcome column"),
    ],
)
def test_refuses(wrong, says):
    with pytest.raises(RequestError, match=says):
        wrong()


def raising(error):
    def each(groups):
        raise error

    return each


def doubled(groups):
    counted = groups.subjects
    counted *= 2
    return counted


@pytest.mark.parametrize(
    ("each", "kind"),
    [
        (raising(ValueError("37010")), "ValueError"),
        (raising(SystemExit("37010")), "SystemExit"),
        (lambda groups: groups.outcomes[0], "IndexError"),
        (lambda groups: [[1], [1, 2], 3], "ValueError"),
        (doubled, "ValueError"),
        (5, "TypeError"),
    ],
)
def test_a_function_that_fails_is_named_and_its_words_are_not_passed_on(own, each, kind):
    with pytest.raises(RequestError, match=f"own_risk raised {kind} .* 3 groups") as caught:
        compute_values(own.risk(each), GROUPS)
    assert "37010" not in str(caught.value)
    assert GROUPS.subjects.tolist() == [2, 3, 1]
