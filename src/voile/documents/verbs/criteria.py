"""Findings on released text for the criteria of a determination."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.core.evidence import Evidence
from voile.documents.model.quantities import ACCEPTANCE, LEFT
from voile.release.criteria import (
    AttackedFigure,
    Bounds,
    CriterionMeasure,
    CriterionMeasurement,
    Name,
)
from voile.report.wording import share

WITH_ONE_LEFT = "subjects with an identifier left"


@dataclass(frozen=True)
class AcceptedShare:
    """The upper limit of subjects with an identifier left, as proved by reading a release."""

    criterion: Name = "singling-out"

    def read_measurements(
        self, public: Mapping[str, Any], _: Sequence[Evidence], __: Bounds
    ) -> Iterator[CriterionMeasurement]:
        """Yield the proved bound with its condition; yield nothing if it allows all subjects."""
        proof = public.get(ACCEPTANCE)
        if proof is None or (most := proof["share_of_subjects_at_most"]) >= 1:
            return
        says = WITH_ONE_LEFT.capitalize() + f", {proof['condition']}" * bool(proof["condition"])
        sure = f"proved, {proof['confidence']:.0%} confidence"
        yield CriterionMeasurement(
            says, f"at most {share(most)}", sure, most, "manifest: acceptance"
        )


CRITERIA: tuple[CriterionMeasure, ...] = (
    AttackedFigure("re-identification", lambda _, found: found.quantity == "subjects found"),
    AttackedFigure("singling-out", lambda _, found: found.quantity == WITH_ONE_LEFT),
    AcceptedShare(),
    AttackedFigure("linkability", lambda attack, _: attack.heading == "linkability", gain=True),
    AttackedFigure("inference", lambda attack, _: attack.heading == "inference", gain=True),
    AttackedFigure("text-left", lambda _, found: found.quantity == LEFT and not found.of),
)
