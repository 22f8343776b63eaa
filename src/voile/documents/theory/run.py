"""All that theory says of one run."""

from __future__ import annotations

from fractions import Fraction

from voile.documents.theory.bound import Bound
from voile.documents.theory.counts import Confusion
from voile.documents.theory.inspecting import lemma_2, lemma_3, theorem_4
from voile.documents.theory.optimum import theorem_2, theorem_3
from voile.documents.theory.sampling import lemma_4, theorem_5, theorem_6


def bounds_of_run(
    attacker: Confusion,
    inspections: int,
    miss_cost: float | Fraction,
    *,
    training: Confusion | None = None,
    within: float | Fraction | None = None,
) -> tuple[Bound, ...]:
    """Return Theorems 2-4 and Lemmas 2-3 for what was published, and 4-6 from its training data.

    >>> for bound in bounds_of_run(Confusion(tp=1, fp=50, tn=850, fn=99), 100, miss_cost=50):
    ...     print(bound)
    Theorem 2: a local optimum iff TP_A = 0 or FP_A / TP_A >= L/C: 50 >= 50
    Theorem 3: TP_A <= C/L (1 - alpha) n: 1 <= 18
    Lemma 2: U(negatives first) >= U(positives first): 10.432 >= 6.1117
    Lemma 3: FN_A + TN_A <= n - 1 - L/C: 949 <= 949
    Theorem 4: U*/U <= (n - 1 - L/C) / max(B, FN_A): 9.49 <= 9.49
    """
    inspections = min(inspections, attacker.n)
    found = (
        theorem_2(attacker, miss_cost),
        theorem_3(attacker, miss_cost),
        lemma_2(attacker, inspections, miss_cost),
        lemma_3(attacker, miss_cost),
        theorem_4(attacker, inspections, miss_cost),
    )
    if training is None or within is None:
        return found
    ratio = lemma_4(training, attacker, miss_cost, within, each=True)
    return (*found, ratio, theorem_5(attacker, ratio), theorem_6(attacker, inspections, ratio))
