"""The itemsets wing's contract: its verbs and options, loaded when first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.lazy import VERBS, lazily
from voile.itemsets.verbs.options import ApplyOptions, AttackOptions, FitOptions

if TYPE_CHECKING:
    from voile.itemsets.rows.matrix_source import open_source
    from voile.itemsets.verbs.apply import apply, prepare
    from voile.itemsets.verbs.attack import attack
    from voile.itemsets.verbs.choose import choose
    from voile.itemsets.verbs.fit import fit
    from voile.itemsets.verbs.report import sections
    from voile.itemsets.verbs.verify import verify

KIND = "itemsets"
SUMMARY = "sparse 0/1 rows with a class label: purchases, searches, diagnoses, words"
WAYS = ("max_risk", "max_loss", "policy", "least_loss", "knee")

__all__ = [
    "KIND",
    "SUMMARY",
    "WAYS",
    "ApplyOptions",
    "AttackOptions",
    "FitOptions",
    "apply",
    "attack",
    "choose",
    "fit",
    "open_source",
    "prepare",
    "sections",
    "verify",
]

__getattr__ = lazily(
    __name__, {**VERBS, "open_source": "rows.matrix_source"}, package="voile.itemsets"
)
