"""What we can prove beside the paper's results, under names of our own.

A loop's passes by its identifiers; which order of inspections is best where a local optimum leaves
the negatives richer than the positives, and how far that is from one who knows the truth; and
FP_A / TP_A by training data whose false and true positives each keep within lambda.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log, sqrt

from voile.documents.theory.bound import TheoryBound, first_failure
from voile.documents.theory.counts import TokenConfusion, exact
from voile.documents.theory.game import is_local_optimum, utility
from voile.documents.theory.optimum import NO_OPTIMUM, NOTHING_FOUND
from voile.documents.theory.sampling import refuse_outside


def passes_by_identifiers(changes: Sequence[Fraction], identifiers: int) -> TheoryBound:
    """Bound the iterations of GreedySanitize by the identifiers: closer than Theorem 1.

    Proof: a classifier is added only where C FP < L TP (Lemma 1), so TP >= 1: each pass but the
    last removes an identifier that was there. It holds where each type has its own L/C.
    """
    name, statement = "Passes", "the loop ends after at most alpha n + 1 iterations"
    for number, one in enumerate(changes, start=1):
        if one >= 0:
            reason = f"the classifier of pass {number} was added and did not lower T"
            return TheoryBound(name, statement, "<=", applies=False, reason=reason)
    return TheoryBound(name, statement, "<=", Fraction(identifiers + 1), Fraction(len(changes) + 1))


def negatives_first(
    attacker: TokenConfusion, inspections: int, miss_cost: float | Fraction
) -> TheoryBound:
    """State that an attacker does best to inspect negatives first, for any B.

    At a local optimum with L/C >= (1 - alpha) / alpha. Proof: FP_A / TP_A >= L/C >=
    (1 - alpha) / alpha means that positives hold at most the share alpha of identifiers, so
    negatives hold at least that: positives first <= at random <= negatives first.
    """
    name, statement = "Negatives first", "U(negatives first) >= U(positives first)"
    rich = exact(miss_cost) * attacker.identifiers >= attacker.harmless
    failure = _no_true_positive_at_an_optimum(attacker, miss_cost) or first_failure(
        [(rich, "L/C is less than (1 - alpha) / alpha")]
    )
    if failure:
        return TheoryBound(name, statement, ">=", applies=False, reason=failure)
    return TheoryBound(
        name,
        statement,
        ">=",
        value=utility(attacker, inspections),
        observed=utility(attacker, inspections, first="negatives"),
    )


def best_of_negatives(
    attacker: TokenConfusion, inspections: int, miss_cost: float | Fraction
) -> TheoryBound:
    """Bound how far B inspections of negatives are from those of one who knows the truth.

    Proof: U = L B FN / (FN + TN), the best L min(B, FN), so their ratio is
    (FN + TN) / max(B, FN); and FP_A >= L/C TP_A >= L/C leaves FN + TN <= n - 1 - L/C.

    >>> best_of_negatives(TokenConfusion(tp=1, fp=50, tn=850, fn=99), 850, miss_cost=50).value
    Fraction(949, 850)
    """
    name, statement = "Best of negatives", "best/U <= (n - 1 - L/C) / max(B, FN_A)"
    failure = _no_true_positive_at_an_optimum(attacker, miss_cost) or first_failure(
        [
            (attacker.fn >= 1, "FN_A = 0: there is nothing to find among the negatives"),
            (1 <= inspections <= attacker.negatives, "B is not between 1 and FN_A + TN_A"),
        ]
    )
    if failure:
        return TheoryBound(name, statement, "<=", applies=False, reason=failure)
    best = min(inspections, attacker.fn)
    return TheoryBound(
        name,
        statement,
        "<=",
        value=(attacker.n - 1 - exact(miss_cost)) / max(inspections, attacker.fn),
        observed=best / utility(attacker, inspections, first="negatives"),
    )


def ratio_within(
    training: TokenConfusion,
    attacker: TokenConfusion,
    miss_cost: float | Fraction,
    within: float | Fraction,
) -> TheoryBound:
    """Bound FP_A / TP_A from below, where false and true positives each keep within lambda.

    With q = TP^ / m: FP_A / n >= FP^ / m - lambda >= q L/C - lambda, and TP_A / n <= q + lambda.
    Unlike Lemma 4 it knows nothing of the attacker's counts.
    """
    name, statement = "Ratio within", "FP_A / TP_A >= (q L/C - lambda) / (q + lambda)"
    ratio, far = exact(miss_cost), exact(within, "lambda")
    q = Fraction(training.tp, max(training.n, 1))
    failure = first_failure(
        [
            (is_local_optimum(training, ratio), "the training data are not a local optimum"),
            (attacker.tp >= 1, NOTHING_FOUND),
            (q * ratio > far, "too few training data (lambda is not below q L/C)"),
        ]
    )
    if failure:
        return TheoryBound(name, statement, ">=", applies=False, reason=failure)
    observed = Fraction(attacker.fp, attacker.tp)
    return TheoryBound(
        name, statement, ">=", value=(q * ratio - far) / (q + far), observed=observed
    )


def deviation_of_choice(delta: float, m: int, classifiers: int) -> float:
    """Return how far a share keeps from its law for finitely many classifiers, all at once.

    sqrt(ln(2 classifiers / delta) / (2 m)): Hoeffding's inequality, for each of them.
    """
    refuse_outside(delta, m, classifiers, "classifiers")
    return sqrt(log(2 * classifiers / delta) / (2 * m))


def deviation_of_dimension(delta: float, m: int, dimension: int) -> float:
    """Return how far errors keep from their law for a class of classifiers by its VC dimension.

    sqrt((d (ln(2 m / d) + 1) + ln(4 / delta)) / m) + 1 / m, Vapnik's bound; 1 where m < d.
    """
    refuse_outside(delta, m, dimension, "dimension")
    if m < dimension:
        return 1.0
    spread = (dimension * (log(2 * m / dimension) + 1) + log(4 / delta)) / m
    return min(1.0, sqrt(spread) + 1 / m)


def _no_true_positive_at_an_optimum(
    attacker: TokenConfusion, miss_cost: float | Fraction
) -> str | None:
    return first_failure(
        [(is_local_optimum(attacker, miss_cost), NO_OPTIMUM), (attacker.tp >= 1, NOTHING_FOUND)]
    )
