"""Which findings on released text answer what a determination judges."""

from __future__ import annotations

from voile.documents.learning.quantities import LEFT
from voile.release.criteria import Attacked, Measure

CRITERIA: tuple[Measure, ...] = (
    Attacked("re-identification", lambda _, found: found.quantity == "subjects found"),
    Attacked("singling-out", lambda _, found: found.quantity == "subjects with an identifier left"),
    Attacked("linkability", lambda attack, _: attack.heading == "linkability", gain=True),
    Attacked("inference", lambda attack, _: attack.heading == "inference", gain=True),
    Attacked("text-left", lambda _, found: found.quantity == LEFT and not found.of),
)
