"""Inspections, counted over all orders; Lemmas 2 and 3 and Theorem 4 by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import pytest

from voile.core.errors import RequestError
from voile.documents.theory import (
    TokenConfusion,
    bounds_of_run,
    gain,
    is_local_optimum,
    lemma_2,
    lemma_3,
    theorem_4,
    utility,
)

GAMES = [TokenConfusion(*counts) for counts in product(range(5), repeat=4)]
RATIOS = [Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4)]


def mean(values):
    values = list(values)
    return Fraction(sum(values), len(values))


@pytest.mark.parametrize(
    "counts",
    [TokenConfusion(1, 2, 2, 1), TokenConfusion(2, 0, 1, 2), TokenConfusion(0, 0, 4, 2)],
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
        utility(TokenConfusion(1, 2, 3, 4), 11)


def test_lemma_2_and_lemma_3_hold_wherever_their_conditions_do():
    applied = 0
    for counts in GAMES:
        for budget in range(counts.n + 2):
            printed = budget >= counts.positives and counts.tp * counts.tn >= counts.fp * counts.fn
            second, third = lemma_2(counts, budget), lemma_3(counts, budget)
            assert second.applies == (printed and budget <= counts.n)
            assert third.applies == (second.applies and counts.tp >= 1)
            assert second.holds is not False
            assert third.holds is not False
            applied += third.applies
    assert applied > 1000


def test_theorem_4_holds_at_every_local_optimum_with_a_true_positive():
    applied = 0
    for counts, ratio in product(GAMES, RATIOS):
        for B in range(counts.positives, counts.n + 1):
            told = theorem_4(counts, B, ratio)
            optimum = is_local_optimum(counts, ratio)
            assert told.applies == (optimum and lemma_3(counts, B).applies)
            assert told.holds is not False
            if told.applies and not told.vacuous:
                assert told.value < Fraction(counts.n, counts.identifiers)
            applied += told.applies
    assert applied > 500


def test_what_the_print_leaves_out_is_needed():
    """More inspections than tokens find nothing more at random, but eq. 1 goes on counting."""
    counts = TokenConfusion(tp=2, fp=1, tn=1, fn=1)
    assert lemma_2(counts, counts.n).holds
    assert lemma_2(counts, counts.n + 1).reason == "more inspections than tokens (B > n)"
    at_random = Fraction(counts.identifiers, counts.n) * (counts.n + 1)
    assert at_random > counts.identifiers  # U as printed, above all that there is to find
    silent, ratio = TokenConfusion(tp=0, fp=0, tn=90, fn=10), 200
    assert is_local_optimum(silent, ratio)
    bound = Fraction(silent.harmless + 1, 1 + ratio)
    assert gain(silent, 50) == 1 > bound  # Theorem 4 would be wrong
    assert theorem_4(silent, 50, ratio).reason == "the classifier finds no identifier (TP_A = 0)"


def test_each_condition_is_named():
    assert lemma_2(TokenConfusion(3, 6, 15, 2), 8).reason.endswith("(B < TP_A + FP_A)")
    assert lemma_2(TokenConfusion(1, 6, 1, 2), 8).reason.endswith("(TP_A TN_A < FP_A FN_A)")
    assert theorem_4(TokenConfusion(3, 5, 15, 2), 20, 2).reason.endswith(
        "(P is not a local optimum)"
    )


def test_example_1_as_printed():
    counts, B = TokenConfusion(tp=3, fp=6, tn=15, fn=2), 20
    assert counts.n == 26
    assert gain(counts, B) == Fraction(949, 850)
    assert lemma_2(counts, B).holds
    assert lemma_3(counts, B).value == Fraction(26 * 3, 9 * 5)  # 1 + 33 / 45
    assert theorem_4(counts, B, 2).value == Fraction(22, 3)


def test_a_run_tells_all_of_it_and_caps_its_inspections():
    counts = TokenConfusion(3, 6, 15, 2)
    plain = bounds_of_run(counts, 10**6, 2)
    assert [one.name for one in plain] == [
        "Theorem 2",
        "Theorem 3",
        "Lemma 2",
        "Lemma 3",
        "Theorem 4",
    ]
    assert plain[2].value == plain[2].observed  # she inspects everything
    full = bounds_of_run(counts, 20, 2, training=TokenConfusion(30, 60, 150, 20), within=0.001)
    assert [one.name for one in full[5:]] == ["Lemma 4", "Theorem 5", "Theorem 6"]
    assert all(one.holds for one in full)


def test_an_empty_publication_is_a_local_optimum_of_which_little_is_said():
    told = bounds_of_run(TokenConfusion(0, 0, 0, 0), 100, 10)
    assert [one.applies for one in told] == [True, True, True, False, False]
    assert told[1].verdict == "vacuous: P holds only 0 identifiers (0 <= 0)"
