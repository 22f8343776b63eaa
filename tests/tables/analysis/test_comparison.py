"""Estimates and their intervals against closed forms, and how far two of them overlap."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.tables.analysis.comparison import (
    GROUPS,
    AnalysisEstimates,
    fit_model,
    groups_of,
    overlap,
    summarise,
)


def people(n, seed=0):
    return groups_of(np.arange(n), np.random.default_rng(seed))


def test_a_linear_model_is_that_of_least_squares_with_its_usual_intervals():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(5_000, 2)) * (1, 50) + (0, 300)
    outcome = features @ (2, -0.1) + rng.normal(size=5_000)
    found = fit_model("linear", ("a", "b"), features, outcome, people(5_000))
    whole = np.column_stack([np.ones(5_000), features])
    exact = np.linalg.lstsq(whole, outcome)[0]
    error = np.sqrt(np.diag(np.linalg.inv(whole.T @ whole)) * (outcome - whole @ exact).var())
    assert np.allclose(found.value, exact[1:])
    longer = (found.high - found.low) / (2 * 1.96 * error[1:])
    assert np.all((longer > 0.6) & (longer < 1.6))


@pytest.mark.whole
@pytest.mark.parametrize(("family", "link"), [("logistic", "expit"), ("poisson", "exp")])
def test_intervals_hold_the_truth_as_often_as_they_say(family, link):
    from scipy.special import expit

    true, hit = np.array([0.8, -0.5]), 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        features = rng.normal(size=(600, 2))
        mean = (expit if link == "expit" else np.exp)(features @ true)
        outcome = rng.binomial(1, mean) if link == "expit" else rng.poisson(mean)
        found = fit_model(family, ("a", "b"), features, outcome * 1.0, people(600, seed))
        hit += ((found.low <= true) & (true <= found.high)).sum()
    assert hit / 60 >= 0.88


def test_rows_of_one_person_count_as_one():
    rng = np.random.default_rng(2)
    once, noise = rng.normal(size=(800, 1)), rng.normal(size=800)
    outcome = once[:, 0] + noise
    alone = fit_model("linear", ("a",), once, outcome, people(800))
    whom = np.repeat(np.arange(800), 9)
    copied = groups_of(whom, np.random.default_rng(0))
    nine = fit_model("linear", ("a",), np.repeat(once, 9, axis=0), np.repeat(outcome, 9), copied)
    assert np.allclose([nine.low, nine.high], [alone.low, alone.high])


def test_what_others_determine_is_not_estimated_and_no_row_changes_a_prediction_of_its_own():
    rng = np.random.default_rng(3)
    a = rng.normal(size=500)
    features = np.column_stack([a, np.full(500, 3.0), 2 * a + 1])
    outcome = a + rng.normal(size=500)
    found = fit_model("linear", ("a", "flat", "same"), features, outcome, people(500))
    assert np.isnan(found.value).tolist() == [False, True, True]
    noise = fit_model("logistic", ("x",), rng.normal(size=(500, 1)), (a > 0) * 1.0, people(500))
    assert noise.score_low < 0.56


def test_a_model_of_nothing_predicts_the_mean():
    outcome = np.tile([0.0, 1.0], 100)
    found = fit_model("logistic", ("flat",), np.ones((200, 1)), outcome, people(200))
    assert np.isnan(found.value).all()
    assert found.score < 0.51


def test_suppressed_rows_are_predicted_and_not_seen():
    rng = np.random.default_rng(4)
    features = rng.normal(size=(600, 1))
    outcome = features[:, 0].copy()
    released = np.arange(600) < 300
    outcome[~released] *= -5
    groups = people(600)
    found = fit_model("linear", ("a",), features, outcome, groups, released=released)
    assert found.value == pytest.approx([1.0])
    assert found.score < 0


numbers = st.floats(-10, 10, allow_nan=False).map(lambda x: round(x, 3))


@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1))
def test_overlap_is_symmetric_between_0_and_1_and_1_of_equals(ends):
    one, two = (
        AnalysisEstimates(
            ("x",) * len(ends),
            np.array([sum(e[i : i + 2]) / 2 for e in ends]),
            np.array([min(e[i : i + 2]) for e in ends]),
            np.array([max(e[i : i + 2]) for e in ends]),
        )
        for i in (0, 2)
    )
    assert np.all((overlap(one, two) >= 0) & (overlap(one, two) <= 1))
    assert np.allclose(overlap(one, two), overlap(two, one))
    assert np.allclose(overlap(one, one), 1)


def test_a_function_of_ones_own_is_asked_about_tables():
    values = np.random.default_rng(5).normal(10, 2, 1_000)
    table = pa.table({"x": values})
    found = summarise(lambda t: {"mean": t.column("x").to_numpy().mean()}, table, people(1_000))
    assert found.value[0] == values.mean()
    assert 0.5 < (found.high - found.low)[0] / (2 * 1.96 * 2 / np.sqrt(1_000)) < 1.6


@pytest.mark.parametrize(
    "bad",
    [lambda t: 1 / 0, lambda t: {}, lambda t: {"a": np.nan}, lambda t: {str(len(t)): 1.0}],
)
def test_a_function_that_fails_is_an_error_without_its_words(bad):
    with pytest.raises(RequestError, match="the analysis"):
        summarise(bad, pa.table({"x": np.arange(100)}), people(100))


def test_too_few_people_are_refused():
    with pytest.raises(RequestError, match=f"compares {2 * GROUPS} subjects"):
        people(2 * GROUPS - 1)
