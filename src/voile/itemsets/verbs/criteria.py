"""The figures and findings of an itemset release that a determination evaluates."""

from __future__ import annotations

from voile.itemsets.verbs.lookup import ONE_LEFT
from voile.release.criteria import AttackedFigure, CertifiedFigure, CriterionMeasure

CRITERIA: tuple[CriterionMeasure, ...] = (
    CertifiedFigure(
        "re-identification",
        "k",
        "largest risk of a row, 1 / k",
        is_group_size=True,
    ),
    CertifiedFigure("singling-out", "unique_share", "rows that no other row equals"),
    AttackedFigure("singling-out", lambda _, found: found.quantity == ONE_LEFT),
    AttackedFigure("inference", lambda _, found: found.advantage, gain=True),
)
