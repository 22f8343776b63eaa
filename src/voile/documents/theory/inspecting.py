"""In which order an attacker should inspect, and what that gains: Lemmas 2 and 3, Theorem 4.

Their conditions and Example 1's result are the paper's; the words are ours, and so are the proofs.
"""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.bound import Bound, first_failure
from voile.documents.theory.counts import Confusion, exact
from voile.documents.theory.game import is_local_optimum, utility
from voile.documents.theory.optimum import NO_OPTIMUM

NOTHING_FOUND = "TP_A = 0: the attacker's classifier finds nothing"


def lemma_2(attacker: Confusion, inspections: int, miss_cost: float | Fraction) -> Bound:
    """State that an attacker does best to inspect negatives first (Lemma 2, as reconstructed).

    At a local optimum with L/C >= (1 - alpha) / alpha, for any B. Proof: FP_A / TP_A >= L/C >=
    (1 - alpha) / alpha means that positives hold at most the share alpha of identifiers, so
    negatives hold at least that: positives first <= at random <= negatives first.
    """
    name, statement = "Lemma 2", "U(negatives first) >= U(positives first)"
    ratio = exact(miss_cost)
    failure = first_failure(
        [
            (is_local_optimum(attacker, ratio), NO_OPTIMUM),
            (attacker.tp >= 1, NOTHING_FOUND),
            (
                ratio * attacker.identifiers >= attacker.harmless,
                "L/C is less than (1 - alpha) / alpha",
            ),
        ]
    )
    if failure:
        return Bound(name, statement, ">=", applies=False, reason=failure)
    vacuous = inspections in (0, attacker.n) or not attacker.negatives
    return Bound(
        name,
        statement,
        ">=",
        value=utility(attacker, inspections),
        observed=utility(attacker, inspections, first="negatives"),
        vacuous=vacuous,
        reason="any order inspects the same tokens" if vacuous else "",
    )


def lemma_3(attacker: Confusion, miss_cost: float | Fraction) -> Bound:
    """Bound the tokens that the attacker's classifier calls harmless (Lemma 3, as reconstructed).

    Proof: TP_A >= 1 and FP_A >= L/C TP_A >= L/C; the others are n - TP_A - FP_A.
    """
    name, statement = "Lemma 3", "FN_A + TN_A <= n - 1 - L/C"
    failure = _no_true_positive_at_an_optimum(attacker, miss_cost)
    if failure:
        return Bound(name, statement, "<=", applies=False, reason=failure)
    return Bound(
        name,
        statement,
        "<=",
        value=attacker.n - 1 - exact(miss_cost),
        observed=Fraction(attacker.negatives),
    )


def theorem_4(attacker: Confusion, inspections: int, miss_cost: float | Fraction) -> Bound:
    """Bound U*/U, how far the attacker of Lemma 2 is from the best (Theorem 4, as reconstructed).

    U is the gain of B inspections of negatives; U* is that of an attacker who knows which of them
    are identifiers. Proof: U = L B FN / (FN + TN), U* = L min(B, FN), so U*/U =
    (FN + TN) / max(B, FN); then Lemma 3.

    Example 1, with numbers of ours that give the paper's result:

    >>> theorem_4(Confusion(tp=1, fp=50, tn=850, fn=99), inspections=850, miss_cost=50).value
    Fraction(949, 850)

    Without a true positive the bound would be below 0, and U*/U is not:

    >>> print(theorem_4(Confusion(tp=0, fp=0, tn=90, fn=10), inspections=20, miss_cost=200).verdict)
    does not apply: TP_A = 0: the attacker's classifier finds nothing
    """
    name, statement = "Theorem 4", "U*/U <= (n - 1 - L/C) / max(B, FN_A)"
    failure = _no_true_positive_at_an_optimum(attacker, miss_cost)
    if failure:
        return Bound(name, statement, "<=", applies=False, reason=failure)
    return farthest_from_best(name, statement, attacker, inspections, exact(miss_cost))


def farthest_from_best(
    name: str, statement: str, attacker: Confusion, inspections: int, least: Fraction
) -> Bound:
    """Bound U*/U where FP_A / TP_A is at least `least`, and TP_A at least 1."""
    failure = first_failure(
        [
            (attacker.fn >= 1, "FN_A = 0: there is nothing to find among the negatives"),
            (1 <= inspections <= attacker.negatives, "B is not between 1 and FN_A + TN_A"),
        ]
    )
    if failure:
        return Bound(name, statement, "<=", applies=False, reason=failure)
    best = min(inspections, attacker.fn)
    return Bound(
        name,
        statement,
        "<=",
        value=(attacker.n - 1 - least) / max(inspections, attacker.fn),
        observed=best / utility(attacker, inspections, first="negatives"),
    )


def _no_true_positive_at_an_optimum(attacker: Confusion, miss_cost: float | Fraction) -> str | None:
    """Say why FP_A >= L/C need not hold."""
    return first_failure(
        [(is_local_optimum(attacker, miss_cost), NO_OPTIMUM), (attacker.tp >= 1, NOTHING_FOUND)]
    )
