"""The value of a local optimum: Lemma 1, Theorems 1, 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from voile.documents.theory.bound import TheoryBound, first_failure
from voile.documents.theory.counts import TokenConfusion, exact
from voile.documents.theory.game import is_local_optimum

NOTHING_FOUND = "the classifier finds no identifier (TP_A = 0)"
NO_OPTIMUM = "adding the attacker's classifier would cost less (P is not a local optimum)"


def lemma_1(
    found: Sequence[int], lost: Sequence[int], missed: tuple[int, int], gone: tuple[int, int]
) -> tuple[TheoryBound, TheoryBound]:
    """Compare the removals of successive classifiers with the remaining tokens (Lemma 1).

    `found` and `lost` are TP(h, P(H)) and FP(h, P(H)) of each classifier. `missed` is FN(H) before
    the first and after the last classifier, and `gone` is FP(H) at the same points. The result
    contains both parts of the lemma, summed over the classifiers.
    """
    return (
        TheoryBound(
            "Lemma 1 (1)",
            "FN(H) = FN(H with h) + TP(h, P(H))",
            "=",
            value=Fraction(missed[1] + sum(found)),
            observed=Fraction(missed[0]),
        ),
        TheoryBound(
            "Lemma 1 (2)",
            "FP(H with h) = FP(H) + FP(h, P(H))",
            "=",
            value=Fraction(gone[0] + sum(lost)),
            observed=Fraction(gone[1]),
        ),
    )


def theorem_1(changes: Sequence[Fraction], tokens: int, identifiers: int) -> TheoryBound:
    """Bound the iterations of GreedySanitize by the tokens of the training data (Theorem 1).

    `changes` are the changes of T, one for each added classifier; one more iteration ended the
    loop. The paper omits that some token must be harmless. Suppose that all tokens are identifiers
    and each pass finds one. Then the iteration without a find is number |X| + 1.
    """
    name, statement = "Theorem 1", "Algorithm 1 ends after at most |X| iterations"
    worthless = (number for number, one in enumerate(changes, start=1) if one >= 0)
    failure = first_failure(
        [
            (identifiers < tokens, "every token is an identifier"),
            *(
                (False, f"the classifier of pass {number} was added and did not lower T")
                for number in worthless
            ),
        ]
    )
    if failure:
        return TheoryBound(name, statement, "<=", applies=False, reason=failure)
    return TheoryBound(name, statement, "<=", Fraction(tokens), Fraction(len(changes) + 1))


def theorem_2(attacker: TokenConfusion, miss_cost: float | Fraction) -> TheoryBound:
    """Compare FP_A / TP_A with L/C: P is a local optimum if the bound holds (Theorem 2).

    Proof: by Lemma 1, C FP_A - L TP_A >= 0; divide by C TP_A if that is not 0.
    """
    name, statement = "Theorem 2", "a local optimum iff TP_A = 0 or FP_A / TP_A >= L/C"
    if not attacker.tp:
        return TheoryBound(name, statement, ">=", exact(miss_cost), reason=NOTHING_FOUND)
    return TheoryBound(
        name, statement, ">=", value=exact(miss_cost), observed=Fraction(attacker.fp, attacker.tp)
    )


def theorem_3(attacker: TokenConfusion, miss_cost: float | Fraction) -> TheoryBound:
    """Bound the identifiers that the attacker's classifier finds (Theorem 3).

    Proof: L TP_A <= C FP_A <= C (1 - alpha) n. A bound below 1 means no identifiers. This is the
    case if L/C is more than (1 - alpha) n.
    """
    name, statement = "Theorem 3", "TP_A <= C/L (1 - alpha) n"
    if not is_local_optimum(attacker, miss_cost):
        return TheoryBound(name, statement, "<=", applies=False, reason=NO_OPTIMUM)
    return most_found(name, statement, attacker, exact(miss_cost))


def most_found(name: str, statement: str, attacker: TokenConfusion, least: Fraction) -> TheoryBound:
    """Bound TP_A if FP_A / TP_A is at least `least`."""
    value = attacker.harmless / least
    vacuous = value >= attacker.identifiers
    return TheoryBound(
        name,
        statement,
        "<=",
        value=value,
        observed=Fraction(attacker.tp),
        vacuous=vacuous,
        reason=f"P holds only {attacker.identifiers} identifiers" if vacuous else "",
    )
