"""The figures and findings of an itemset release that a determination evaluates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from voile.core.evidence import Evidence
from voile.itemsets.verbs.lookup import ONE_LEFT
from voile.release.criteria import (
    AttackedFigure,
    Bounds,
    CertifiedFigure,
    CriterionMeasure,
    CriterionMeasurement,
)
from voile.release.manifest import ACCEPTED
from voile.report.wording import share


@dataclass(frozen=True)
class LargestRisk(CertifiedFigure):
    """The risk of a row, 1 / k. It is 1 if the data holder accepted the risk of joined rows."""

    def read_measurements(
        self, public: Mapping[str, Any], evidence: Sequence[Evidence], bounds: Bounds
    ) -> Iterator[CriterionMeasurement]:
        """Yield the promised risk, or 1."""
        for one in super().read_measurements(public, evidence, bounds):
            says = "risk of a person's joined rows, accepted"
            risk = replace(one, says=says, shown=share(1.0), most=1.0)
            yield risk if ACCEPTED in public else one


CRITERIA: tuple[CriterionMeasure, ...] = (
    LargestRisk(
        "re-identification",
        "k",
        "largest risk of a row, 1 / k",
        is_group_size=True,
    ),
    CertifiedFigure("singling-out", "unique_share", "rows that no other row equals"),
    CertifiedFigure(
        "singling-out", "most_unique_all_rows", "people whose joined rows no other person has"
    ),
    AttackedFigure("singling-out", lambda _, found: found.quantity == ONE_LEFT),
    AttackedFigure("inference", lambda _, found: found.advantage, gain=True),
)
