"""Which findings on messages answer what a determination judges: how well the class is inferred."""

from __future__ import annotations

from voile.core.evidence import Evidence, Finding
from voile.release.criteria import Attacked, Measure
from voile.signals.verbs.attack import UNPROTECTED


def _names_the_class(attack: Evidence, found: Finding) -> bool:
    """Say whether the class was inferred from messages as they are sent."""
    is_sent = attack.attack != UNPROTECTED and found.at is None
    return attack.heading == "inference" and found.quantity == "right" and is_sent


CRITERIA: tuple[Measure, ...] = (Attacked("inference", _names_the_class, gain=True),)
