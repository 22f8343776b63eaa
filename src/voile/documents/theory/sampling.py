"""From the training data to the published text: lambda of eq. 5, Lemma 4, Theorems 5 and 6.

The publisher sees a local optimum on m training tokens. Let these be drawn independently from the
law that P follows. Compare the error share of the last classifier there with that of the attacker's
on P. The first is above the second by at most lambda, with probability 1 - delta. Tokens of one
document are not independent: with few documents, read m as the number of documents. The paper takes
P to be so large that it stands for its law, and of m tokens (its footnote 2). In shares, as here,
the proof needs only the first of these two.
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

    sqrt(41 / m (v ln(2 e m / v) + ln(4 / delta))), as printed; infinite where m < v, for which the
    inequality behind it says nothing.
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

    p, q, s and r are the tightest that the counts allow: FP^ = p FN^, TP^ = q m, FP_A = s FN_A,
    TP_A = r TN_A. The print has TP^ >= q TN^, but its proof uses TP^ >= q m, and the bound is
    false without. It needs TP_A >= 1 as well, and FP_A >= 1, without which there is no s.
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
    """Bound the finds of the attacker's classifier, as Theorem 3, by Lemma 4 (Theorem 5)."""
    name = "Theorem 5"
    statement = "TP_A <= r (1 + 1/s) (1 - alpha) n / ((1 + 1/p) q L/C - lambda)"
    if ratio.value is None:
        return TheoryBound(name, statement, "<=", applies=False, reason=ratio.reason)
    return most_found(name, statement, attacker, ratio.value)


def theorem_6(attacker: TokenConfusion, inspections: int, ratio: TheoryBound) -> TheoryBound:
    """Bound U*/U, as Theorem 4, by Lemma 4 (Theorem 6)."""
    name = "Theorem 6"
    statement = "U*/U <= ((1 - alpha) n + 1) r (1 + 1/s) / (r (1 + 1/s) + (1 + 1/p) q L/C - lambda)"
    if ratio.value is None:
        return TheoryBound(name, statement, "<=", applies=False, reason=ratio.reason)
    return most_gained(name, statement, attacker, inspections, ratio.value)
