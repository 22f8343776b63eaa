"""The attacker's gain from a classifier, with B inspections: Lemmas 2 and 3, Theorem 4.

U* is the expected gain if the attacker inspects predicted identifiers first. U is the expected gain
with inspections at random. All three results require B from TP_A + FP_A to n. The paper omits this
upper limit.
"""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.bound import TheoryBound, first_failure
from voile.documents.theory.counts import TokenConfusion, exact
from voile.documents.theory.game import is_local_optimum, utility
from voile.documents.theory.optimum import NO_OPTIMUM, NOTHING_FOUND


def lemma_2(attacker: TokenConfusion, inspections: int) -> TheoryBound:
    """State that predicted identifiers first are no worse than tokens at random (Lemma 2)."""
    name, statement = "Lemma 2", "U* >= U"
    failure = _not_worth_prioritising(attacker, inspections)
    if failure:
        return TheoryBound(name, statement, ">=", applies=False, reason=failure)
    value = utility(attacker, inspections, first="random")
    return TheoryBound(name, statement, ">=", value, observed=utility(attacker, inspections))


def lemma_3(attacker: TokenConfusion, inspections: int) -> TheoryBound:
    """Bound U*/U by the attacker's own counts (Lemma 3)."""
    name = "Lemma 3"
    statement = "U*/U <= 1 + (TP_A TN_A - FP_A FN_A) / ((TP_A + FP_A) (TP_A + FN_A))"
    failure = _not_worth_prioritising(attacker, inspections) or _no_gain(attacker)
    if failure:
        return TheoryBound(name, statement, "<=", applies=False, reason=failure)
    gained = attacker.tp * attacker.tn - attacker.fp * attacker.fn
    value = 1 + Fraction(gained, attacker.positives * attacker.identifiers)
    return TheoryBound(name, statement, "<=", value, observed=gain(attacker, inspections))


def theorem_4(
    attacker: TokenConfusion, inspections: int, miss_cost: float | Fraction
) -> TheoryBound:
    """Bound U*/U at a local optimum (Theorem 4), if TP_A is at least 1.

    The paper omits the last condition. Without it, U* may be less than U, or U may be 0.
    """
    name, statement = "Theorem 4", "U*/U <= ((1 - alpha) n + 1) / (1 + L/C)"
    failure = None if is_local_optimum(attacker, miss_cost) else NO_OPTIMUM
    if failure:
        return TheoryBound(name, statement, "<=", applies=False, reason=failure)
    return most_gained(name, statement, attacker, inspections, exact(miss_cost))


def most_gained(
    name: str, statement: str, attacker: TokenConfusion, inspections: int, least: Fraction
) -> TheoryBound:
    """Bound U*/U if FP_A / TP_A is at least `least`."""
    failure = _not_worth_prioritising(attacker, inspections) or _no_gain(attacker)
    if failure:
        return TheoryBound(name, statement, "<=", applies=False, reason=failure)
    value = (attacker.harmless + 1) / (1 + least)
    # at best, every inspection finds an identifier
    without = Fraction(attacker.n, attacker.identifiers)
    return TheoryBound(
        name,
        statement,
        "<=",
        value=value,
        observed=gain(attacker, inspections),
        vacuous=value >= without,
        reason="no attacker gains more" if value >= without else "",
    )


def gain(attacker: TokenConfusion, inspections: int) -> Fraction:
    """Return U*/U for an attacker who finds an identifier and inspects at least once.

    Example 1 of the paper, printed as 1.11:

    >>> gain(TokenConfusion(tp=3, fp=6, tn=15, fn=2), inspections=20)
    Fraction(949, 850)
    """
    return utility(attacker, inspections) / utility(attacker, inspections, first="random")


def _not_worth_prioritising(attacker: TokenConfusion, inspections: int) -> str | None:
    """Return the first condition of Lemma 2 that fails."""
    rich = attacker.tp * attacker.tn >= attacker.fp * attacker.fn
    return first_failure(
        [
            (inspections <= attacker.n, "more inspections than tokens (B > n)"),
            (
                inspections >= attacker.positives,
                "fewer inspections than tokens that the classifier marks (B < TP_A + FP_A)",
            ),
            (
                rich,
                "the tokens that the classifier marks are poorer in identifiers than the rest "
                "(TP_A TN_A < FP_A FN_A)",
            ),
        ]
    )


def _no_gain(attacker: TokenConfusion) -> str | None:
    return None if attacker.tp else NOTHING_FOUND
