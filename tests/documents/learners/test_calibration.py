"""Probabilities that decide as well as any cut of the margin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.learners.calibration import fit_calibration
from voile.documents.model.classifiers.calibration import IsotonicCalibration

COSTS = (1.01, 2.0, 3.5, 5.0, 10.0, 20.0, 50.0)


def everything(labels: np.ndarray) -> np.ndarray:
    return np.ones(len(labels), dtype=np.bool_)


def worth(labels: np.ndarray, removed: np.ndarray, cost: float) -> float:
    """Return T = L FN + FP."""
    return cost * ((labels > 0) & ~removed).sum() + ((labels == 0) & removed).sum()


@st.composite
def judged(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw margins, tied ones among them, and labels that they tell something of."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 200))
    labels = (rng.random(n) < draw(st.sampled_from([0.03, 0.2, 0.6]))).astype(np.int16)
    margins = rng.normal(size=n) + labels * draw(st.sampled_from([0.0, 1.0, 3.0]))
    digits = draw(st.sampled_from([0, 1, 8]))
    return np.round(margins, digits)[:, None], labels


@given(judged())
@settings(max_examples=150, deadline=None)
def test_no_cut_of_the_margin_does_better_at_any_cost(drawn):
    margins, labels = drawn
    assume(labels.any())
    chances = fit_calibration(margins, labels, everything(labels)).probabilities(margins)
    surely_harmless = (margins[:, 0] < margins[labels > 0, 0].min()).sum()
    cuts = [-np.inf, *np.unique(margins)]
    for cost in COSTS:
        if cost <= surely_harmless or not surely_harmless:
            found = worth(labels, chances[:, 0] > 1 / (1 + cost), cost)
            best = min(worth(labels, margins[:, 0] > cut, cost) for cut in cuts)
            assert found <= best


@given(judged(), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_probabilities_rise_with_margins_and_nothing_is_certain(drawn, seed):
    margins, labels = drawn
    calibration = fit_calibration(margins, labels, everything(labels))
    new = np.sort(np.random.default_rng(seed).normal(scale=10, size=(50, 1)), axis=0)
    chances = calibration.probabilities(new)[:, 0]
    assert (np.diff(chances) >= 0).all()
    assert (chances >= 1 / (len(labels) + 1)).all()
    assert (chances <= len(labels) / (len(labels) + 1)).all()


def test_the_ends_are_as_sure_as_they_are_long():
    margins = np.array([-3.0, -2.0, -1.0, 1.0, 2.0])[:, None]
    calibration = fit_calibration(margins, np.array([0, 0, 0, 1, 1]), np.ones(5, np.bool_))
    told = calibration.probabilities(np.array([[-9.0], [-1.0], [0.0], [1.0], [9.0]]))
    low, high = 1 / 4, 2 / 3
    np.testing.assert_allclose(told[:, 0], [low, low, (low + high) / 2, high, high])


def test_a_few_tokens_below_the_others_do_not_make_the_others_likely():
    margins = np.concatenate([np.full(3, -20.0), np.linspace(-9, -7, 3000), [1.0]])[:, None]
    labels = np.zeros(3004, np.int16)
    labels[[1000, -1]] = 1
    calibration = fit_calibration(margins, labels, everything(labels))
    chances = calibration.probabilities(np.array([[-20.0], [-8.0], [1.0]]))[:, 0]
    assert (chances[:2] < 1 / 1000).all()
    upside = fit_calibration(-margins, 1 - labels, everything(labels))
    np.testing.assert_allclose(
        upside.probabilities(-margins), 1 - calibration.probabilities(margins)
    )


def test_no_identifier_gives_a_chance_that_shrinks_with_the_text():
    for size in (1, 10, 1000):
        margins = np.linspace(-1, 1, size)[:, None]
        calibration = fit_calibration(margins, np.zeros(size, np.int16), np.ones(size, np.bool_))
        np.testing.assert_allclose(calibration.probabilities(margins), 1 / (size + 1))


def test_tokens_that_do_not_count_change_nothing():
    rng = np.random.default_rng(0)
    margins, labels = rng.normal(size=(300, 2)), rng.integers(0, 3, 300).astype(np.int16)
    counted = rng.random(300) < 0.7
    one = fit_calibration(margins, labels, counted)
    margins[~counted], labels[~counted] = np.nan, 1
    two = fit_calibration(margins, labels, counted)
    for name, array in one.to_arrays().items():
        np.testing.assert_array_equal(array, two.to_arrays()[name])


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(max_examples=40, deadline=None)
def test_types_never_sum_to_more_than_one(seed, types):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, types + 1, 200).astype(np.int16)
    margins = rng.normal(size=(200, types)) + 2 * (labels[:, None] == np.arange(1, types + 1))
    calibration = fit_calibration(margins, labels, everything(labels))
    told = calibration.probabilities(rng.normal(scale=4, size=(100, types)))
    assert (told.sum(axis=1) <= 1 + 1e-9).all()
    assert (told >= 0).all()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(wrong):
    margins, labels = np.array([[0.0], [1.0]]), np.array([0, 1], np.int16)
    calibration = fit_calibration(margins, labels, np.ones(2, np.bool_))
    margins[0] = wrong
    with pytest.raises(RequestError, match="finite"):
        calibration.probabilities(margins)
    with pytest.raises(RequestError, match="finite"):
        fit_calibration(margins, labels, np.ones(2, np.bool_))


def test_no_token_and_other_types_are_refused():
    margins, labels = np.zeros((2, 1)), np.zeros(2, np.int16)
    with pytest.raises(RequestError, match="no token"):
        fit_calibration(margins, labels, np.zeros(2, np.bool_))
    calibration = fit_calibration(margins, labels, np.ones(2, np.bool_))
    with pytest.raises(RequestError, match="margins of 2 types where 1"):
        calibration.probabilities(np.zeros((2, 2)))


def test_arrays_give_it_back_and_wrong_ones_do_not():
    rng = np.random.default_rng(0)
    margins, labels = rng.normal(size=(300, 2)), rng.integers(0, 3, 300).astype(np.int16)
    calibration = fit_calibration(margins, labels, np.ones(300, np.bool_))
    arrays = calibration.to_arrays()
    again = IsotonicCalibration.from_arrays(arrays)
    np.testing.assert_array_equal(again.probabilities(margins), calibration.probabilities(margins))
    for name, wrong in {
        "knots": arrays["knots"][::-1].copy(),
        "chances": arrays["chances"] * 3,
        "first": arrays["first"] + 1,
    }.items():
        with pytest.raises(RequestError, match="not of this kind"):
            IsotonicCalibration.from_arrays({**arrays, name: wrong})
