"""What we prove beside the paper, against deviations drawn and orders enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.documents.theory.proofs import (
    best_of_negatives,
    deviation_of_choice,
    deviation_of_dimension,
    negatives_first,
    ratio_within,
)

from voile.core.errors import RequestError
from voile.documents.theory import TokenConfusion, is_local_optimum, utility

TINY = Fraction(1, 10**9)
SMALL = st.integers(0, 40)
MANY = st.integers(0, 500)


@given(st.data(), st.integers(1, 40), st.integers(0, 300), SMALL)
def test_negatives_first_are_best_and_random_lies_between(data, tp, fp, fn):
    # as many harmless negatives as keep them at least as rich in identifiers as the positives
    counts = TokenConfusion(tp, fp + 1, data.draw(st.integers(0, (fp + 1) * fn // tp)), fn)
    B = data.draw(st.integers(0, counts.n))
    told = negatives_first(counts, B, Fraction(counts.fp, counts.tp))
    assert told.applies
    assert told.holds
    assert told.value <= utility(counts, B, first="random") <= told.observed


def test_negatives_first_needs_its_conditions():
    rare = TokenConfusion(
        tp=2, fp=4, tn=94, fn=1
    )  # at L/C = 2 an optimum, yet positives are worth more
    assert is_local_optimum(rare, 2)
    assert utility(rare, 5) > utility(rare, 5, first="negatives")
    assert negatives_first(rare, 5, 2).reason == "L/C is less than (1 - alpha) / alpha"
    precise = TokenConfusion(tp=20, fp=10, tn=1, fn=1)
    assert utility(precise, 2) > utility(precise, 2, first="negatives")
    assert negatives_first(precise, 2, 1).reason.endswith("(P is not a local optimum)")
    assert negatives_first(TokenConfusion(0, 9, 90, 10), 5, 200).reason.endswith("(TP_A = 0)")


@given(
    st.builds(TokenConfusion, SMALL, st.integers(0, 300), st.integers(0, 300), SMALL),
    st.fractions(Fraction(1, 4), 60),
    st.data(),
)
def test_the_best_of_negatives_is_bounded_at_any_local_optimum_with_a_true_positive(
    counts, ratio, data
):
    tp = max(counts.tp, 1)
    counts = TokenConfusion(tp, counts.fp + int(ratio * tp) + 1, counts.tn, counts.fn)
    B = data.draw(st.integers(0, counts.n))
    told = best_of_negatives(counts, B, ratio)
    assert told.applies == (counts.fn >= 1 and 1 <= B <= counts.negatives)
    assert told.holds is not False


@pytest.mark.parametrize(
    "counts",
    [TokenConfusion(1, 4, 3, 2), TokenConfusion(2, 9, 5, 1), TokenConfusion(1, 3, 0, 4)],
)
def test_the_best_of_negatives_is_over_all_choices_of_inspections(counts):
    negatives = [1] * counts.fn + [0] * counts.tn
    for B in range(1, len(negatives) + 1):
        found = [sum(chosen) for chosen in combinations(negatives, B)]
        told = best_of_negatives(counts, B, 3)
        assert told.observed == max(found) / Fraction(sum(found), len(found))
        assert told.holds


@given(
    st.builds(TokenConfusion, MANY, MANY, MANY, MANY),
    st.builds(TokenConfusion, MANY, MANY, MANY, MANY),
    st.fractions(Fraction(1, 2), 20),
)
def test_the_ratio_holds_where_false_and_true_positives_keep_within_lambda(
    training, attacker, ratio
):
    assume(training.n and attacker.n)
    far = max(
        *(
            abs(Fraction(getattr(training, name), training.n) - Fraction(there, attacker.n))
            for name, there in (("fp", attacker.fp), ("tp", attacker.tp))
        ),
        TINY,
    )
    told = ratio_within(training, attacker, ratio, far)
    assert told.holds is not False
    if told.applies:
        assert 0 < told.value < ratio


def test_with_more_data_the_ratio_becomes_that_of_the_training_data():
    training, attacker = TokenConfusion(10, 500, 8500, 990), TokenConfusion(1, 50, 850, 99)
    values = [ratio_within(training, attacker, 50, far).value for far in (1e-2, 1e-3, 1e-4, 1e-9)]
    assert values[1] < values[2] < values[3]
    assert float(values[3]) == pytest.approx(50, rel=1e-5)


@pytest.mark.parametrize("m", [10, 100, 2000])
@pytest.mark.parametrize("error", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("delta", [0.01, 0.2])
def test_one_classifier_deviates_by_more_than_lambda_no_oftener_than_delta(m, error, delta):
    far = deviation_of_choice(delta, m, classifiers=1)
    within = binom.cdf(floor(m * (error + far)), m, error)
    within -= binom.cdf(ceil(m * (error - far)) - 1, m, error)
    assert 1 - within <= delta


def test_the_worst_of_many_thresholds_keeps_within_both_deviations():
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
    assert (worst > deviation_of_choice(delta, m, classifiers=50)).mean() <= delta
    assert (worst > deviation_of_dimension(delta, m, dimension=1)).mean() <= delta
    assert (worst > deviation_of_choice(delta, 20 * m, classifiers=50)).mean() > delta  # m matters


def test_examples_of_deviations():
    assert round(deviation_of_choice(0.05, 200_000, classifiers=4), 4) == 0.0036
    assert round(deviation_of_dimension(0.05, 200_000, dimension=100), 3) == 0.068
    assert deviation_of_dimension(0.05, 99, dimension=100) == 1
    with pytest.raises(RequestError):
        deviation_of_choice(0, 5, 5)
