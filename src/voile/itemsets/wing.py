"""The itemsets wing as the faces see it: its verbs and their options, loaded when asked for."""

from __future__ import annotations

from voile.core.lazy import VERBS, lazily
from voile.itemsets.verbs.options import (
    AXES,
    ApplyOptions,
    AssessOptions,
    AttackOptions,
    FitOptions,
)

KIND = "itemsets"
SUMMARY = "sparse 0/1 rows with a class label: purchases, searches, diagnoses, words"
WAYS = ("max_risk", "max_loss", "policy", "least_loss", "knee")

__all__ = [
    "AXES",
    "KIND",
    "SUMMARY",
    "WAYS",
    "ApplyOptions",
    "AssessOptions",
    "AttackOptions",
    "FitOptions",
]

__getattr__ = lazily(
    __name__,
    {
        **VERBS,
        "judge": "verbs.judging",
        "open_source": "rows.matrix_source",
    },
    package="voile.itemsets",
)
