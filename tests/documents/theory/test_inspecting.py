"""Inspections in any order, counted over all orders; Lemmas 2 and 3 and Theorem 4 at random."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.core.errors import RequestError
from voile.documents.theory import (
    Confusion,
    bounds_of_run,
    is_local_optimum,
    lemma_2,
    lemma_3,
    theorem_4,
    utility,
)

SMALL = st.integers(0, 40)
RATIOS = st.fractions(Fraction(1, 4), 60)
COUNTS = st.builds(Confusion, SMALL, st.integers(0, 300), st.integers(0, 300), SMALL)


@st.composite
def optima(draw):
    """Counts at a local optimum with a true positive, and their ratio."""
    counts, ratio = draw(COUNTS), draw(RATIOS)
    tp = max(counts.tp, 1)
    counts = Confusion(tp, counts.fp + int(ratio * tp) + 1, counts.tn, counts.fn)
    assert is_local_optimum(counts, ratio)
    return counts, ratio


def mean(values):
    values = list(values)
    return Fraction(sum(values), len(values))


@pytest.mark.parametrize(
    "counts",
    [Confusion(1, 2, 2, 1), Confusion(2, 0, 1, 2), Confusion(0, 0, 4, 2)],
)
@pytest.mark.parametrize("first", ["positives", "negatives", "random"])
def test_utility_is_the_mean_over_all_orders(counts, first):
    positives = [1] * counts.tp + [0] * counts.fp
    negatives = [1] * counts.fn + [0] * counts.tn
    for B in range(counts.n + 1):
        if first == "random":
            orders = permutations(positives + negatives)
        else:
            groups = [positives, negatives] if first == "positives" else [negatives, positives]
            orders = [a + b for a in permutations(groups[0]) for b in permutations(groups[1])]
        expected = mean(sum(order[:B]) for order in orders)
        assert utility(counts, B, first=first) == expected
        assert utility(counts, B, 7, first) == 7 * expected


def test_more_inspections_than_tokens_are_refused():
    with pytest.raises(RequestError, match="11 inspections of 10 tokens"):
        utility(Confusion(1, 2, 3, 4), 11)


@given(st.data(), st.integers(1, 40), st.integers(0, 300), SMALL)
def test_lemma_2_holds_wherever_it_applies_and_random_lies_between(data, tp, fp, fn):
    # as many harmless negatives as keep them at least as rich in identifiers as the positives
    counts = Confusion(tp, fp + 1, data.draw(st.integers(0, (fp + 1) * fn // tp)), fn)
    B = data.draw(st.integers(0, counts.n))
    told = lemma_2(counts, B, Fraction(counts.fp, counts.tp))
    assert told.applies
    assert told.holds
    assert told.value <= utility(counts, B, first="random") <= told.observed
    if told.vacuous:
        assert told.value == told.observed


def test_lemma_2_needs_its_conditions():
    rare = Confusion(tp=2, fp=4, tn=94, fn=1)  # at L/C = 2 an optimum, yet positives are worth more
    assert is_local_optimum(rare, 2)
    assert utility(rare, 5) > utility(rare, 5, first="negatives")
    assert lemma_2(rare, 5, 2).reason == "L/C is less than (1 - alpha) / alpha"
    precise = Confusion(tp=20, fp=10, tn=1, fn=1)
    assert utility(precise, 2) > utility(precise, 2, first="negatives")
    assert lemma_2(precise, 2, 1).reason.startswith("P is no local optimum")
    assert lemma_2(Confusion(0, 9, 90, 10), 5, 200).reason.startswith("TP_A = 0")


@given(optima(), st.data())
def test_lemma_3_and_theorem_4_hold_at_any_local_optimum_with_a_true_positive(optimum, data):
    counts, ratio = optimum
    assert lemma_3(counts, ratio).holds
    B = data.draw(st.integers(0, counts.n))
    told = theorem_4(counts, B, ratio)
    assert told.applies == (counts.fn >= 1 and 1 <= B <= counts.negatives)
    if told.applies:
        assert told.holds
        assert told.value >= 1


@pytest.mark.parametrize(
    "counts",
    [Confusion(1, 4, 3, 2), Confusion(2, 9, 5, 1), Confusion(1, 3, 0, 4)],
)
def test_theorem_4_compares_with_the_best_choice_of_inspections(counts):
    negatives = [1] * counts.fn + [0] * counts.tn
    for B in range(1, len(negatives) + 1):
        found = [sum(chosen) for chosen in combinations(negatives, B)]
        told = theorem_4(counts, B, 3)
        assert told.observed == max(found) / mean(found)
        assert told.holds


@given(COUNTS, RATIOS, st.integers(0, 700))
def test_without_a_true_positive_nothing_is_claimed(counts, ratio, B):
    silent = Confusion(0, counts.fp, counts.tn, counts.fn)
    assert not lemma_3(silent, ratio).applies
    assert not theorem_4(silent, B, ratio).applies


def test_the_condition_left_out_is_needed():
    silent, ratio, B = Confusion(tp=0, fp=0, tn=90, fn=10), 200, 20
    assert is_local_optimum(silent, ratio)
    assert silent.negatives > silent.n - 1 - ratio  # Lemma 3 would be wrong
    best = 10 / utility(silent, B, first="negatives")
    assert best > Fraction(silent.n - 1 - ratio, B)  # and so would be Theorem 4
    assert theorem_4(silent, B, ratio).verdict.startswith("does not apply: TP_A = 0")


def test_example_1():
    told = theorem_4(Confusion(tp=1, fp=50, tn=850, fn=99), 850, 50)
    assert told.value == told.observed == Fraction(949, 850)


def test_a_run_tells_all_of_it_and_caps_its_inspections():
    counts = Confusion(1, 50, 850, 99)
    plain = bounds_of_run(counts, 10**6, 50)
    assert [one.name for one in plain] == [
        "Theorem 2",
        "Theorem 3",
        "Lemma 2",
        "Lemma 3",
        "Theorem 4",
    ]
    assert plain[2].vacuous  # she inspects everything
    assert plain[4].verdict == "does not apply: B is not between 1 and FN_A + TN_A"
    full = bounds_of_run(counts, 100, 50, training=Confusion(10, 500, 8500, 990), within=0.001)
    assert [one.name for one in full[5:]] == ["Lemma 4", "Theorem 5", "Theorem 6"]
    assert all(one.holds for one in full)


def test_an_empty_publication_is_a_local_optimum_of_which_little_is_said():
    nothing = Confusion(0, 0, 0, 0)
    told = bounds_of_run(nothing, 100, 10)
    assert [one.applies for one in told] == [True, True, False, False, False]
    assert told[1].verdict == "vacuous: P holds only 0 identifiers (0 <= 0)"
