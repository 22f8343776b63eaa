"""Select the figures and findings of a table that a determination needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voile.core.evidence import Evidence
from voile.release.criteria import (
    CERTIFIED,
    AttackedFigure,
    Bounds,
    CertifiedFigure,
    CriterionMeasure,
    CriterionMeasurement,
    Name,
)
from voile.release.manifest import ACCEPTED
from voile.report.suppression import FEW
from voile.report.wording import share
from voile.tables.attack.singling_out import ALL_ROWS, ALONE


@dataclass(frozen=True)
class SmallestGroup:
    """The risk of a released person in the smallest released group: 1 / the people in it.

    If all groups have at least 11 people, the criterion states that no group is smaller. The public
    manifest does not contain the size of smaller groups. The risk is then at most 1 / k, or 1 if
    the data holder accepted a release that breaks its promise. A limit on the risk in a population
    does not limit the risk in released groups.
    """

    criterion: Name = "re-identification"

    def read_measurements(
        self, public: Mapping[str, Any], _: Sequence[Evidence], bounds: Bounds, /
    ) -> Iterator[CriterionMeasurement]:
        """Yield the risk, and the numbers of groups and people under 11.

        Old releases, without these numbers, yield nothing.
        """
        figures = public["figures"]
        if bounds != "group" or "groups_under_11" not in figures:
            return
        groups = figures["groups_under_11"]
        says, most = "no released group has fewer than 11 people", 0.0
        if groups:
            people = figures.get("people_under_11")
            held = f"{people:,.0f} people" if people else f"fewer than {FEW} people"
            number = f"{groups:,.0f} group{'s' * (groups > 1)}"
            says = f"groups of fewer than 11: {number}, {held}"
            most = 1.0 if ACCEPTED in public else 1 / public["constraints"]["k"]
        elif sizes := [figures[name] for name in ("k", "k_all_rows") if name in figures]:
            most = 1 / min(sizes)
        yield CriterionMeasurement(says, share(most), CERTIFIED, most, "manifest: groups_under_11")


CRITERIA: tuple[CriterionMeasure, ...] = (
    CertifiedFigure("re-identification", "max_risk", "largest risk of a record", "mean_risk"),
    SmallestGroup(),
    AttackedFigure("singling-out", lambda _, found: found.quantity in (ALONE, ALL_ROWS)),
    AttackedFigure("linkability", lambda _, found: found.quantity == "people found"),
    AttackedFigure("inference", lambda _, found: found.advantage, gain=True),
    CertifiedFigure(
        "kept-columns", "most_unique_with_kept", "people unique on all released columns"
    ),
    AttackedFigure(
        "kept-columns",
        lambda _, found: found.quantity == "unique in the release with its kept columns",
    ),
)
