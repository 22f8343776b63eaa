"""Lambda against exact and drawn deviations; Lemma 4 and Theorems 5 and 6 over random counts."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom

from voile.core.errors import RequestError
from voile.documents.theory import (
    Confusion,
    deviation,
    deviation_of_dimension,
    lemma_4,
    theorem_5,
    theorem_6,
)

TINY = Fraction(1, 10**9)
MANY = st.integers(0, 500)


@pytest.mark.parametrize("m", [10, 100, 2000])
@pytest.mark.parametrize("error", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_one_classifier_deviates_by_more_than_lambda_no_oftener_than_delta(m, error, delta):
    far = deviation(delta, m, classifiers=1)
    within = binom.cdf(floor(m * (error + far)), m, error)
    within -= binom.cdf(ceil(m * (error - far)) - 1, m, error)
    assert 1 - within <= delta


def test_the_worst_of_many_thresholds_keeps_within_both_lambdas():
    rng = np.random.default_rng(0)
    m, delta, draws = 400, 0.1, 300
    cuts = np.linspace(0, 1, 50)
    truth = 0.6  # tokens above it are identifiers, and each label is wrong in one of ten
    errors = 0.1 + 0.8 * np.abs(cuts - truth)
    worst = np.empty(draws)
    for draw in range(draws):
        x = rng.random(m)
        label = (x > truth) ^ (rng.random(m) < 0.1)
        wrong = ((x[:, None] > cuts) != label[:, None]).mean(axis=0)
        worst[draw] = np.abs(wrong - errors).max()
    assert (worst > deviation(delta, m, classifiers=50)).mean() <= delta
    assert (worst > deviation_of_dimension(delta, m, dimension=1)).mean() <= delta
    assert (worst > deviation(delta, 20 * m, classifiers=50)).mean() > delta  # and m matters


@given(st.floats(0.001, 0.4), st.integers(2, 10**6), st.integers(1, 1000))
def test_lambda_falls_with_data_and_grows_with_the_class_and_with_certainty(delta, m, size):
    for far in (deviation, deviation_of_dimension):
        here = far(delta, m, size)
        assert far(delta, 2 * m, size) <= here <= far(delta, m, 2 * size)
        assert here <= far(delta / 2, m, size)


def test_lambda_says_nothing_with_fewer_data_than_dimensions():
    assert deviation_of_dimension(0.05, 99, 100) == 1


@pytest.mark.parametrize(("delta", "m", "size"), [(0, 5, 5), (1, 5, 5), (0.1, 0, 5), (0.1, 5, 0)])
def test_lambda_refuses_what_is_out_of_range(delta, m, size):
    with pytest.raises(RequestError):
        deviation(delta, m, size)
    with pytest.raises(RequestError):
        deviation_of_dimension(delta, m, size)


@st.composite
def alike(draw):
    """Training data and P with one alpha and one p, and errors of their own."""
    p, s = draw(st.integers(1, 30)), draw(st.integers(1, 5))  # FP / FN = p / s
    identifiers, harmless = draw(st.integers(10, 400)), draw(st.integers(10, 4000))

    def counts(errors):
        fn, fp = s * errors, p * errors
        assume(fn < identifiers and fp <= harmless)
        return Confusion(identifiers - fn, fp, harmless - fp, fn)

    return counts(draw(st.integers(1, 60))), counts(draw(st.integers(1, 60)))


def rate(count, counts):
    return Fraction(count, counts.n)


@given(alike())
def test_lemma_4_holds_where_errors_keep_within_lambda_and_is_reached(pair):
    training, attacker = pair
    errors = [rate(one.fp + one.fn, one) for one in pair]
    far = abs(errors[0] - errors[1])
    ratio = Fraction(training.fp, training.tp)  # just an optimum on the training data
    told = lemma_4(training, attacker, ratio, far or TINY)
    if not told.applies:
        assert told.reason.startswith("lambda is not below (1 + 1/p) q L/C")
        return
    assert told.holds
    if far and errors[1] < errors[0]:
        assert told.value == told.observed  # no better bound can be had from these


@given(
    st.builds(Confusion, MANY, MANY, MANY, MANY),
    st.builds(Confusion, MANY, MANY, MANY, MANY),
    st.fractions(Fraction(1, 2), 20),
    st.integers(1, 900),
)
def test_lemma_4_for_each_error_and_theorems_5_and_6_hold(training, attacker, ratio, B):
    assume(training.n and attacker.n)
    far = max(
        abs(rate(training.fp, training) - rate(attacker.fp, attacker)),
        abs(rate(training.tp, training) - rate(attacker.tp, attacker)),
        TINY,
    )
    told = lemma_4(training, attacker, ratio, far, each=True)
    fifth, sixth = theorem_5(attacker, told), theorem_6(attacker, B, told)
    assert told.holds is not False
    assert fifth.holds is not False
    assert sixth.holds is not False
    assert fifth.applies == told.applies
    if told.applies:
        assert 0 < told.value < ratio
        assert sixth.applies == (attacker.fn >= 1 and 1 <= B <= attacker.negatives)


def test_with_more_data_lemma_4_becomes_the_training_ratio():
    training, attacker = Confusion(10, 500, 8500, 990), Confusion(1, 50, 850, 99)
    values = [
        lemma_4(training, attacker, 50, far, each=each).value
        for each in (False, True)
        for far in (1e-2, 1e-3, 1e-4, 1e-9)
    ]
    assert values[:3] == sorted(values[:3])
    assert float(values[3]) == pytest.approx(50, rel=1e-5)
    assert values[4] is None or values[4] < values[5] < values[6] < values[7]
    assert float(values[7]) == pytest.approx(50, rel=1e-5)


@pytest.mark.parametrize(
    ("training", "attacker", "far", "reason"),
    [
        (
            Confusion(9, 9, 90, 9),
            Confusion(1, 50, 850, 99),
            0.01,
            "the training data are no local",
        ),
        (
            Confusion(0, 9, 90, 9),
            Confusion(1, 50, 850, 99),
            0.01,
            "TP = 0 on the training data",
        ),
        (Confusion(1, 300, 850, 99), Confusion(0, 0, 90, 10), 0.01, "TP_A = 0"),
        (Confusion(1, 300, 850, 99), Confusion(1, 300, 850, 98), 0.01, "alpha differs"),
        (
            Confusion(1, 300, 600, 99),
            Confusion(2, 300, 600, 98),
            0.01,
            "p = FP / FN differs",
        ),
        (
            Confusion(1, 200, 700, 99),
            Confusion(1, 200, 700, 99),
            0.5,
            "lambda is not below (1 + 1/p)",
        ),
    ],
)
def test_each_condition_of_lemma_4_is_checked_and_handed_on(training, attacker, far, reason):
    told = lemma_4(training, attacker, 200, far)
    assert told.applies is False
    assert told.reason.startswith(reason)
    assert theorem_5(attacker, told).reason == told.reason
    assert theorem_6(attacker, 20, told).reason == told.reason


def test_examples_of_deviation():
    assert round(deviation(0.05, 200_000, classifiers=4), 4) == 0.0036


def test_examples_of_deviation_of_dimension():
    assert round(deviation_of_dimension(0.05, 200_000, dimension=100), 3) == 0.068
