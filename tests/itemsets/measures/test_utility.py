"""What features are worth, against pairs of rows counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.itemsets.measures.utility import (
    chi_squared,
    classification_metric,
    coverage,
    distcnt,
    hamdist,
    hamdist_weights,
    mutual_information,
    size,
    weights_for,
)

seeds = st.integers(0, 2**32)


def two_sets(t, seed):
    rng = np.random.default_rng(seed)
    larger = np.flatnonzero(rng.random(t.X.shape[1]) < 0.7)
    return larger[rng.random(len(larger)) < 0.6], larger


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_paper_utilities_are_those_of_their_definitions(table, seed):
    t = table(seed)
    for S in two_sets(t, seed):
        assert hamdist(t.incidence, t.y, S) == pytest.approx(t.hamdist(S), abs=1e-12)
        assert distcnt(t.incidence, t.y, S) == pytest.approx(t.distcnt(S), abs=1e-12)
        found = classification_metric(t.incidence, t.y, S)
        assert found == pytest.approx(t.cm(S), abs=1e-12)


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_weights_are_those_of_each_contingency_table(table, seed):
    t = table(seed)
    informs, statistic = mutual_information(t.X, t.y), chi_squared(t.X, t.y)
    for x in range(t.X.shape[1]):
        bits = squares = 0.0
        for value in (0, 1):
            for label in set(t.y.tolist()):
                has, is_of = t.X[:, x] == value, t.y == label
                seen, expected = (has & is_of).mean(), has.mean() * is_of.mean()
                bits += seen * np.log2(seen / expected) if seen else 0.0
                squares += len(t.X) * (seen - expected) ** 2 / expected if expected else 0.0
        assert informs[x] == pytest.approx(bits, abs=1e-12)
        assert statistic[x] == pytest.approx(squares, abs=1e-9)
    assert coverage(t.X).sum() == pytest.approx(1.0 if t.X.any() else 0.0)


@given(seeds)
@settings(max_examples=80, deadline=None)
def test_hamdist_is_modular_distcnt_grows_and_is_submodular(table, seed):
    t = table(seed)
    smaller, larger = two_sets(t, seed)
    weights = hamdist_weights(t.X, t.y)
    assert hamdist(t.X, t.y, larger) == pytest.approx(weights[larger].sum())
    assert distcnt(t.X, t.y, smaller) <= distcnt(t.X, t.y, larger)
    for x in np.setdiff1d(np.arange(t.X.shape[1]), larger):
        to_smaller, to_larger = (
            distcnt(t.X, t.y, [*S, x]) - distcnt(t.X, t.y, S) for S in (smaller, larger)
        )
        assert to_smaller >= to_larger - 1e-12


def test_hamdist_rewards_density_where_mutual_information_sees_nothing():
    X, y = np.array([[1, 1], [0, 1], [1, 0], [0, 0]]), [0, 0, 1, 1]
    assert hamdist_weights(X, y).tolist() == [0.5, 1.0]
    assert mutual_information(X, y).tolist() == [0.0, 1.0]


def test_the_papers_example(table_1):
    assert hamdist(table_1.X, table_1.y, [0, 2, 3, 4]) == pytest.approx(8 / 9)
    assert hamdist(table_1.X, table_1.y, [0, 1, 4]) == pytest.approx(6 / 9)


@pytest.mark.parametrize(
    ("y", "says"),
    [
        ([0, 0, 0], "one class only"),
        ([0, 1], r"labels of shape \(2,\) for 3 rows"),
        ([0, np.nan, 1], "row 1: 1 labels are missing"),
        ([None, "a", None], "row 0: 2 labels are missing"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(y, says):
    with pytest.raises(RequestError, match=says):
        hamdist(np.eye(3), y)


@pytest.mark.parametrize(
    ("utility", "says"),
    [
        ("hamdits", "no utility 'hamdits'; did you mean hamdist"),
        ("hamdist", "hamdist needs a label"),
        ([1.0], "weights of shape"),
        ([1.0, np.nan, 1.0], "column x1: a weight is not finite"),
    ],
)
def test_utilities_that_cannot_be_used_are_refused(table_1, utility, says):
    rows = table_1.incidence.project([0, 1, 2])
    with pytest.raises(RequestError, match=says):
        weights_for(utility, rows, None)


def test_without_labels_a_feature_is_worth_its_share_of_ones_or_one():
    assert coverage(np.array([[1, 0], [1, 1], [0, 1], [1, 0]])).tolist() == [0.6, 0.4]
    assert size(np.array([[1, 0], [1, 1]])).tolist() == [1.0, 1.0]
