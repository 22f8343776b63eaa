"""Proofs about a sanitiser and its attacker: Lemmas 1-4 and Theorems 1-6.

Source: Li, Vorobeychik, Li, Malin, *An Iterative Classification Scheme for Sanitizing Large-Scale
Datasets*, 2016. Each function checks the conditions of its result, including conditions that the
paper omits. It returns a `TheoryBound`, with the reason if the bound does not apply or is vacuous.
"""

from voile.documents.theory.bound import TheoryBound
from voile.documents.theory.counts import TokenConfusion
from voile.documents.theory.game import (
    change,
    change_by_type,
    cost,
    cost_by_type,
    is_local_optimum,
    utility,
)
from voile.documents.theory.inspecting import gain, lemma_2, lemma_3, theorem_4
from voile.documents.theory.optimum import lemma_1, theorem_1, theorem_2, theorem_3
from voile.documents.theory.run import bounds_of_run
from voile.documents.theory.sampling import deviation, lemma_4, theorem_5, theorem_6

__all__ = [
    "TheoryBound",
    "TokenConfusion",
    "bounds_of_run",
    "change",
    "change_by_type",
    "cost",
    "cost_by_type",
    "deviation",
    "gain",
    "is_local_optimum",
    "lemma_1",
    "lemma_2",
    "lemma_3",
    "lemma_4",
    "theorem_1",
    "theorem_2",
    "theorem_3",
    "theorem_4",
    "theorem_5",
    "theorem_6",
    "utility",
]
