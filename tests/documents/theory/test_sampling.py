"""Lambda of eq. 5 against drawn deviations; Lemma 4, Theorems 5 and 6 with realised ones."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.theory import TokenConfusion, deviation, lemma_4, theorem_5, theorem_6
from voile.documents.theory.inspecting import gain

TINY = Fraction(1, 10**9)
MANY = st.integers(0, 500)
COUNTS = st.builds(TokenConfusion, MANY, MANY, MANY, MANY)


def errors(counts):
    return Fraction(counts.fp + counts.fn, counts.n)


def realised(training, attacker):
    """How far the errors of the training data are above those of P: lambda at its least."""
    return max(errors(training) - errors(attacker), TINY)


@st.composite
def pairs(draw, same_size):
    """Training data at a local optimum, and what the attacker does on P; as many tokens or not."""
    training, attacker = draw(COUNTS), draw(COUNTS)
    assume(training.tp and training.fp and attacker.n)
    if same_size:
        missing = training.n - attacker.n
        assume(missing >= -attacker.tn)
        attacker = TokenConfusion(attacker.tp, attacker.fp, attacker.tn + missing, attacker.fn)
    return training, attacker


@pytest.mark.parametrize("same_size", [True, False])
def test_lemma_4_and_theorems_5_and_6_hold_where_errors_keep_within_lambda(same_size):
    seen = []

    @given(pairs(same_size), st.integers(1, 1500))
    def holds(pair, B):
        training, attacker = pair
        ratio = Fraction(training.fp, training.tp)  # just an optimum on the training data
        told = lemma_4(training, attacker, ratio, realised(*pair))
        fifth, sixth = theorem_5(attacker, told), theorem_6(attacker, B, told)
        assert told.holds is not False
        assert fifth.holds is not False
        assert sixth.holds is not False
        assert fifth.applies == told.applies
        seen.append((told.applies, sixth.applies))

    holds()
    assert any(lemma for lemma, _ in seen)


def test_the_bounds_are_those_of_the_print():
    """p, q, s, r by hand: FP^ = 3 FN^, TP^ = m / 20, FP_A = 2 FN_A, TP_A = r TN_A."""
    training, attacker = TokenConfusion(50, 300, 550, 100), TokenConfusion(40, 200, 660, 100)
    p, q, s, r, ratio, far = 3, Fraction(1, 20), 2, Fraction(40, 660), 6, Fraction(1, 100)
    above = (1 + Fraction(1, p)) * q * ratio - far
    told = lemma_4(training, attacker, ratio, far)
    assert told.value == above / (1 + Fraction(1, s)) / r
    harmless = attacker.harmless
    assert theorem_5(attacker, told).value == r * (1 + Fraction(1, s)) * harmless / above
    sixth = theorem_6(attacker, 500, told)
    wide = r * (1 + Fraction(1, s))
    assert sixth.value == (harmless + 1) * wide / (wide + above)
    assert sixth.observed == gain(attacker, 500)


def test_with_q_as_printed_lemma_4_is_false():
    """TP^ >= q TN^ allows q = TP^ / TN^, which is more than the share of TP^ of m."""
    training, attacker = TokenConfusion(5, 20, 5, 5), TokenConfusion(6, 19, 5, 5)
    ratio, far = 4, realised(training, attacker)
    printed = Fraction(training.tp, training.tn)
    above = (1 + Fraction(training.fn, training.fp)) * printed * ratio - far
    wide = (1 + Fraction(attacker.fn, attacker.fp)) * Fraction(attacker.tp, attacker.tn)
    assert Fraction(attacker.fp, attacker.tp) < above / wide
    assert lemma_4(training, attacker, ratio, far).holds


def test_the_worst_of_many_thresholds_keeps_within_lambda():
    rng = np.random.default_rng(0)
    m, delta, draws = 4000, 0.1, 100
    cuts = np.linspace(0, 1, 50)
    truth = 0.6  # tokens above it are identifiers, and each label is wrong in one of ten
    law = 0.1 + 0.8 * np.abs(cuts - truth)
    above = np.empty(draws)
    for draw in range(draws):
        x = rng.random(m)
        label = (x > truth) ^ (rng.random(m) < 0.1)
        wrong = ((x[:, None] > cuts) != label[:, None]).mean(axis=0)
        above[draw] = wrong.min() - law.min()
    assert (above > deviation(delta, m, dimension=1)).mean() <= delta


def test_lambda_is_eq_5():
    # sqrt(41 / 200000 (100 (1 + 8.29405) + 4.38203)), by hand
    assert round(deviation(0.05, 200_000, dimension=100), 4) == 0.4375
    assert deviation(0.05, 99, dimension=100) == inf


@given(st.floats(0.001, 0.4), st.integers(2, 10**6), st.integers(1, 1000))
def test_lambda_falls_with_data_and_grows_with_the_class_and_with_certainty(delta, m, size):
    here = deviation(delta, m, size)
    assert deviation(delta, 2 * m, size) <= here <= deviation(delta, m, 2 * size)
    assert here <= deviation(delta / 2, m, size)


@pytest.mark.parametrize(("delta", "m", "size"), [(0, 5, 5), (1, 5, 5), (0.1, 0, 5), (0.1, 5, 0)])
def test_lambda_refuses_what_is_out_of_range(delta, m, size):
    with pytest.raises(RequestError):
        deviation(delta, m, size)


FIT = TokenConfusion(1, 300, 600, 99)


@pytest.mark.parametrize(
    ("training", "attacker", "far", "reason"),
    [
        (TokenConfusion(9, 9, 90, 9), FIT, 0.01, "the training data are not a local"),
        (
            TokenConfusion(0, 9, 90, 9),
            FIT,
            0.01,
            "on the training data the classifier finds no identifier",
        ),
        (FIT, TokenConfusion(0, 0, 90, 10), 0.01, "the classifier finds no identifier"),
        (FIT, TokenConfusion(1, 0, 90, 10), 0.01, "the classifier marks no harmless token"),
        (FIT, TokenConfusion(1, 90, 0, 10), 0.01, "the classifier marks every harmless token"),
        (FIT, FIT, 0.5, "too few training data"),
        (FIT, FIT, inf, "fewer training data than dimensions"),
    ],
)
def test_each_condition_of_lemma_4_is_checked_and_handed_on(training, attacker, far, reason):
    told = lemma_4(training, attacker, 200, far)
    assert told.applies is False
    assert told.reason.startswith(reason)
    assert theorem_5(attacker, told).reason == told.reason
    assert theorem_6(attacker, 20, told).reason == told.reason
