"""From the training data to what is published: lambda of eq. 5, Lemma 4, Theorems 5 and 6.

The publisher sees a local optimum on m training tokens. Where they were drawn independently from
the law that P follows, no classifier's error differs by more than lambda between them and P, with
probability 1 - delta; a P of few tokens is a draw as well, so add its own lambda(delta, n). Tokens
of one document are not independent: with few documents, read m as the number of documents.

Their conditions are the paper's, with those that its proofs need; words and proofs are ours.
"""

from __future__ import annotations

from fractions import Fraction
from math import log, sqrt

from voile.core.errors import RequestError
from voile.documents.theory.bound import Bound, first_failure
from voile.documents.theory.counts import Confusion, exact
from voile.documents.theory.game import is_local_optimum
from voile.documents.theory.inspecting import NOTHING_FOUND, farthest_from_best
from voile.documents.theory.optimum import most_found


def deviation(delta: float, m: int, classifiers: int) -> float:
    """Return lambda(delta, m) for a choice of finitely many classifiers (eq. 5).

    sqrt(ln(2 classifiers / delta) / (2 m)): Hoeffding's inequality, for each of them.
    """
    _refuse_outside(delta, m, classifiers, "classifiers")
    return sqrt(log(2 * classifiers / delta) / (2 * m))


def deviation_of_dimension(delta: float, m: int, dimension: int) -> float:
    """Return lambda(delta, m) for a class of classifiers by its VC dimension (eq. 5).

    sqrt((d (ln(2 m / d) + 1) + ln(4 / delta)) / m) + 1 / m, Vapnik's bound; 1 where m < d.
    """
    _refuse_outside(delta, m, dimension, "dimension")
    if m < dimension:
        return 1.0
    spread = (dimension * (log(2 * m / dimension) + 1) + log(4 / delta)) / m
    return min(1.0, sqrt(spread) + 1 / m)


def _refuse_outside(delta: float, m: int, size: int, name: str) -> None:
    if not 0 < delta < 1:
        raise RequestError(f"delta is {delta}, and must be between 0 and 1")
    if m < 1 or size < 1:
        raise RequestError(f"m is {m} and {name} is {size}, and both must be 1 or more")


def lemma_4(
    training: Confusion,
    attacker: Confusion,
    miss_cost: float | Fraction,
    within: float | Fraction,
    *,
    each: bool = False,
) -> Bound:
    """Bound FP_A / TP_A on P from below, by the training data (Lemma 4, as reconstructed).

    Let q = TP^ / m, and p = FP^ / FN^ = FP_A / FN_A, alike in both, as is alpha. With error rates
    e = (FP + FN) / n within lambda of each other, FN / n = e / (1 + p) and FP / n = p e / (1 + p)
    differ by at most lambda / (1 + p) and lambda p / (1 + p), and TP / n = alpha - FN / n by as
    much as FN / n. So with FP^ >= L/C TP^, and times (1 + 1/p) above and below,

        FP_A / TP_A >= ((1 + 1/p) q L/C - lambda) / ((1 + 1/p) q + lambda / p).

    With `each`, p and alpha may differ; false positives and true positives each keep within
    lambda, which the same inequalities give each for itself (delta counts twice):

        FP_A / TP_A >= (q L/C - lambda) / (q + lambda).
    """
    name, statement = "Lemma 4", "FP_A / TP_A >= ((1+1/p) q L/C - lambda) / ((1+1/p) q + lambda/p)"
    if each:
        statement = "FP_A / TP_A >= (q L/C - lambda) / (q + lambda)"
    ratio, far = exact(miss_cost), exact(within, "lambda")
    failure = first_failure(
        [
            (is_local_optimum(training, ratio), "the training data are no local optimum"),
            (training.tp >= 1, "TP = 0 on the training data"),
            (attacker.tp >= 1, NOTHING_FOUND),
            (
                each or training.alpha == attacker.alpha,
                "alpha differs from that of the training data",
            ),
            (
                each or training.fp * attacker.fn == attacker.fp * training.fn,
                "p = FP / FN differs from that of the training data",
            ),
        ]
    )
    if failure:
        return Bound(name, statement, ">=", applies=False, reason=failure)
    q = Fraction(training.tp, training.n)
    one_by_p = Fraction(0) if each else Fraction(training.fn, training.fp)
    above = (1 + one_by_p) * q * ratio - far
    below = (1 + one_by_p) * q + far * (1 if each else one_by_p)
    if above <= 0:
        reason = f"lambda is not below {'' if each else '(1 + 1/p) '}q L/C: too few training data"
        return Bound(name, statement, ">=", applies=False, reason=reason)
    observed = Fraction(attacker.fp, attacker.tp)
    return Bound(name, statement, ">=", value=above / below, observed=observed)


def theorem_5(attacker: Confusion, ratio: Bound) -> Bound:
    """Bound the identifiers that the attacker's classifier finds, as Theorem 3 (Theorem 5)."""
    name, statement = "Theorem 5", "TP_A <= (1 - alpha) n / (the ratio of Lemma 4)"
    if ratio.value is None:
        return Bound(name, statement, "<=", applies=False, reason=ratio.reason)
    return most_found(name, statement, attacker, ratio.value)


def theorem_6(attacker: Confusion, inspections: int, ratio: Bound) -> Bound:
    """Bound U*/U, as Theorem 4 (Theorem 6)."""
    name, statement = "Theorem 6", "U*/U <= (n - 1 - the ratio of Lemma 4) / max(B, FN_A)"
    if ratio.value is None:
        return Bound(name, statement, "<=", applies=False, reason=ratio.reason)
    return farthest_from_best(name, statement, attacker, inspections, ratio.value)
