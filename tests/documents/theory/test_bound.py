"""Examples of `theory/bound`."""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.bound import TheoryBound, first_failure


def test_examples_of_bound():
    assert (
        str(TheoryBound("Theorem 3", "TP_A <= C/L (1 - alpha) n", "<=", Fraction(18), Fraction(1)))
        == "Theorem 3: TP_A <= C/L (1 - alpha) n: 1 <= 18"
    )
    assert (
        str(TheoryBound("Theorem 3", "TP_A <= ...", "<=", applies=False, reason="no local optimum"))
        == "Theorem 3: TP_A <= ...: does not apply: no local optimum"
    )


def test_examples_of_first_failure():
    assert first_failure([(True, "no tokens"), (False, "TP_A = 0")]) == "TP_A = 0"
