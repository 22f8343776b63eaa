"""Apply all results of the theory to one run."""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.bound import TheoryBound
from voile.documents.theory.counts import TokenConfusion
from voile.documents.theory.inspecting import lemma_2, lemma_3, theorem_4
from voile.documents.theory.optimum import theorem_2, theorem_3
from voile.documents.theory.sampling import lemma_4, theorem_5, theorem_6


def bounds_of_run(
    attacker: TokenConfusion,
    inspections: int,
    miss_cost: float | Fraction,
    *,
    training: TokenConfusion | None = None,
    within: float | Fraction | None = None,
) -> tuple[TheoryBound, ...]:
    """Return Theorems 2-4 and Lemmas 2-3 for the published text, and 4-6 from its training data.

    The results from training data need both `training` and `within`.

    >>> for bound in bounds_of_run(TokenConfusion(tp=2, fp=6, tn=91, fn=1), 10, miss_cost=3):
    ...     print(bound)
    Theorem 2: a local optimum iff TP_A = 0 or FP_A / TP_A >= L/C: 3 >= 3
    Theorem 3: TP_A <= C/L (1 - alpha) n: vacuous: P holds only 3 identifiers (2 <= 32.3333)
    Lemma 2: U* >= U: 2.02174 >= 0.3
    Lemma 3: U*/U <= 1 + (TP_A TN_A - FP_A FN_A) / ((TP_A + FP_A) (TP_A + FN_A)): 6.73913 <= 8.33333
    Theorem 4: U*/U <= ((1 - alpha) n + 1) / (1 + L/C): 6.73913 <= 24.5
    """
    inspections = min(inspections, attacker.n)
    found = (
        theorem_2(attacker, miss_cost),
        theorem_3(attacker, miss_cost),
        lemma_2(attacker, inspections),
        lemma_3(attacker, inspections),
        theorem_4(attacker, inspections, miss_cost),
    )
    if training is None or within is None:
        return found
    ratio = lemma_4(training, attacker, miss_cost, within)
    return (*found, ratio, theorem_5(attacker, ratio), theorem_6(attacker, inspections, ratio))
