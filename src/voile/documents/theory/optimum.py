"""What a local optimum is worth: Lemma 1, Theorems 1, 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from voile.documents.theory.bound import Bound
from voile.documents.theory.counts import Confusion, exact
from voile.documents.theory.game import is_local_optimum

NO_OPTIMUM = "P is no local optimum: the attacker's classifier, added to H, would lower T"


def lemma_1(changes: Sequence[Fraction], before: Fraction, after: Fraction) -> Bound:
    """State that classifiers change T by what each does on P alone (Lemma 1).

    Proof: P holds what no classifier of H removes. h moves TP(h, P) tokens from FN(H) to removed,
    and FP(h, P) harmless tokens to FP(H); it changes nothing that H had removed before. So with
    one after the other, and with types of their own L/C.
    """
    return Bound(
        "Lemma 1",
        "T(H with h) - T(H) = C FP(h, P) - L TP(h, P)",
        "=",
        value=sum(changes, Fraction(0)),
        observed=after - before,
    )


def theorem_1(
    changes: Sequence[Fraction], last: Confusion, identifiers: int, miss_cost: float | Fraction
) -> Bound:
    """Bound the passes of GreedySanitize, which ends at a local optimum (Theorem 1).

    Proof: a classifier is added only where C FP < L TP (Lemma 1), so TP >= 1: each pass but the
    last removes an identifier that was there. The last does not lower T: if it is the attacker's,
    Definition 4.1 holds.
    """
    name, statement = "Theorem 1", "ends at a local optimum within alpha n + 1 passes"
    if not is_local_optimum(last, miss_cost):
        return Bound(name, statement, "<=", applies=False, reason=NO_OPTIMUM)
    for number, one in enumerate(changes, start=1):
        if one >= 0:
            reason = f"the classifier of pass {number} was added and did not lower T"
            return Bound(name, statement, "<=", applies=False, reason=reason)
    return Bound(
        name, statement, "<=", value=Fraction(identifiers + 1), observed=Fraction(len(changes) + 1)
    )


def theorem_2(attacker: Confusion, miss_cost: float | Fraction) -> Bound:
    """Compare FP_A / TP_A with L/C: P is a local optimum where the bound holds (Theorem 2).

    Proof: by Lemma 1, C FP_A - L TP_A >= 0; divide by C TP_A where that is not 0.
    """
    name, statement = "Theorem 2", "a local optimum iff TP_A = 0 or FP_A / TP_A >= L/C"
    if not attacker.tp:
        reason = "TP_A = 0, a local optimum at any L/C"
        return Bound(name, statement, ">=", exact(miss_cost), vacuous=True, reason=reason)
    return Bound(
        name, statement, ">=", value=exact(miss_cost), observed=Fraction(attacker.fp, attacker.tp)
    )


def theorem_3(attacker: Confusion, miss_cost: float | Fraction) -> Bound:
    """Bound the identifiers that the attacker's classifier finds (Theorem 3).

    Proof: L TP_A <= C FP_A <= C (1 - alpha) n. Below 1 it means none: so where L/C is more than
    (1 - alpha) n.
    """
    name, statement = "Theorem 3", "TP_A <= C/L (1 - alpha) n"
    if not is_local_optimum(attacker, miss_cost):
        return Bound(name, statement, "<=", applies=False, reason=NO_OPTIMUM)
    return most_found(name, statement, attacker, exact(miss_cost))


def most_found(name: str, statement: str, attacker: Confusion, least: Fraction) -> Bound:
    """Bound TP_A where FP_A / TP_A is at least `least`."""
    value = attacker.harmless / least
    vacuous = value >= attacker.identifiers
    return Bound(
        name,
        statement,
        "<=",
        value=value,
        observed=Fraction(attacker.tp),
        vacuous=vacuous,
        reason=f"P holds only {attacker.identifiers} identifiers" if vacuous else "",
    )
