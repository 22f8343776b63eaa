"""Extend results from the training data to the published text: Lemma 4, Theorems 5 and 6.

The publisher sees a local optimum on m training tokens. Assume that these are drawn independently
from the distribution that P follows. Compare the error rate of the last classifier on them with
that of the attacker's classifier on P. With probability 1 - delta, the first exceeds the second by
at most lambda (eq. 5).

Tokens of one document are not independent. With few documents, use the number of documents for m.
The paper assumes that P is so large that it represents its distribution, and that it has m tokens
(its footnote 2). The functions here use rates, so their proofs need only the first of these two
assumptions.
"""

from __future__ import annotations

from fractions import Fraction
from math import e, inf, log, sqrt

from voile.core.errors import RequestError
from voile.documents.theory.bound import TheoryBound, first_failure
from voile.documents.theory.counts import TokenConfusion, exact
from voile.documents.theory.game import is_local_optimum
from voile.documents.theory.inspecting import most_gained
from voile.documents.theory.optimum import NOTHING_FOUND, most_found


def deviation(delta: float, m: int, dimension: int) -> float:
    """Return lambda(delta, m) for classifiers of VC dimension v (eq. 5).

    The value is sqrt(41 / m (v ln(2 e m / v) + ln(4 / delta))), as printed. It is infinite if m <
    v, since the inequality behind it then makes no statement.
    """
    refuse_outside(delta, m, dimension, "dimension")
    if m < dimension:
        return inf
    return sqrt(41 / m * (dimension * log(2 * e * m / dimension) + log(4 / delta)))


def refuse_outside(delta: float, m: int, size: int, name: str) -> None:
    """Refuse parameters for which no deviation is defined."""
    if not 0 < delta < 1:
        raise RequestError(f"delta is {delta}, and must be between 0 and 1")
    if m < 1 or size < 1:
        raise RequestError(f"m is {m} and {name} is {size}, and both must be 1 or more")


def lemma_4(
    training: TokenConfusion,
    attacker: TokenConfusion,
    miss_cost: float | Fraction,
    within: float | Fraction,
) -> TheoryBound:
    """Bound FP_A / TP_A on P from below, by the training data (Lemma 4).

    p, q, s and r are the tightest values that the counts allow: FP^ = p FN^, TP^ = q m, FP_A = s
    FN_A, TP_A = r TN_A. The paper prints TP^ >= q TN^, but its proof uses TP^ >= q m, and the bound
    is false without it. The bound also requires TP_A >= 1, and FP_A >= 1, since otherwise s does
    not exist.
    """
    name = "Lemma 4"
    statement = "FP_A / TP_A >= ((1 + 1/p) q L/C - lambda) / ((1 + 1/s) r)"
    ratio = exact(miss_cost)
    failure = first_failure(
        [
            (is_local_optimum(training, ratio), "the training data are not a local optimum"),
            (training.tp >= 1, "on the training data the classifier finds no identifier (TP^ = 0)"),
            (attacker.tp >= 1, NOTHING_FOUND),
            (
                attacker.fp >= 1,
                "the classifier marks no harmless token (no s above 0 has FP_A >= s FN_A)",
            ),
            (
                attacker.tn >= 1,
                "the classifier marks every harmless token (no r has TP_A <= r TN_A)",
            ),
            (within != inf, "fewer training data than dimensions (lambda has no bound)"),
        ]
    )
    if failure:
        return TheoryBound(name, statement, ">=", applies=False, reason=failure)
    q, r = Fraction(training.tp, training.n), Fraction(attacker.tp, attacker.tn)
    one_by_p = Fraction(training.fn, training.fp)
    one_by_s = Fraction(attacker.fn, attacker.fp)
    above = (1 + one_by_p) * q * ratio - exact(within, "lambda")
    if above <= 0:
        reason = "too few training data (lambda is not below (1 + 1/p) q L/C)"
        return TheoryBound(name, statement, ">=", applies=False, reason=reason)
    observed = Fraction(attacker.fp, attacker.tp)
    return TheoryBound(name, statement, ">=", value=above / ((1 + one_by_s) * r), observed=observed)


def theorem_5(attacker: TokenConfusion, ratio: TheoryBound) -> TheoryBound:
    """Bound the finds of the attacker's classifier like Theorem 3, but with Lemma 4 (Theorem 5)."""
    name = "Theorem 5"
    statement = "TP_A <= r (1 + 1/s) (1 - alpha) n / ((1 + 1/p) q L/C - lambda)"
    if ratio.value is None:
        return TheoryBound(name, statement, "<=", applies=False, reason=ratio.reason)
    return most_found(name, statement, attacker, ratio.value)


def theorem_6(attacker: TokenConfusion, inspections: int, ratio: TheoryBound) -> TheoryBound:
    """Bound U*/U like Theorem 4, but with Lemma 4 (Theorem 6)."""
    name = "Theorem 6"
    statement = "U*/U <= ((1 - alpha) n + 1) r (1 + 1/s) / (r (1 + 1/s) + (1 + 1/p) q L/C - lambda)"
    if ratio.value is None:
        return TheoryBound(name, statement, "<=", applies=False, reason=ratio.reason)
    return most_gained(name, statement, attacker, inspections, ratio.value)
