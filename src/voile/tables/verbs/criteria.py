"""Which figures and findings of a table answer what a determination judges."""

from __future__ import annotations

from voile.release.criteria import Attacked, Certified, Measure
from voile.tables.attack.singling_out import ALL_ROWS, ALONE

CRITERIA: tuple[Measure, ...] = (
    Certified("re-identification", "max_risk", "largest risk of a record", "mean_risk"),
    Attacked("singling-out", lambda _, found: found.quantity in (ALONE, ALL_ROWS)),
    Attacked("linkability", lambda _, found: found.quantity == "people found"),
    Attacked("inference", lambda _, found: found.advantage, gain=True),
    Attacked(
        "kept-columns",
        lambda _, found: found.quantity == "unique in the release with its kept columns",
    ),
)
