"""Which findings on messages answer what a determination judges: how well the class is inferred."""

from __future__ import annotations

from voile.core.evidence import Evidence, Finding
from voile.release.criteria import AttackedFigure, CriterionMeasure
from voile.signals.attack.attackers import IDENTIFIED
from voile.signals.attack.breaks import KNOWN_PLAINTEXT
from voile.signals.verbs.attack import UNPROTECTED

QUANTITIES = (IDENTIFIED, "right")
"""What evidence calls it, and what it did at first."""


def _names_the_class(attack: Evidence, found: Finding) -> bool:
    """Say whether the class was inferred from messages as they are sent.

    Whoever knows a reading with its message finds the class of every release: its limits say so.
    """
    given = (UNPROTECTED, KNOWN_PLAINTEXT)
    is_sent = attack.attack not in given and found.at is None
    return attack.heading == "inference" and found.quantity in QUANTITIES and is_sent


CRITERIA: tuple[CriterionMeasure, ...] = (
    AttackedFigure("inference", _names_the_class, gain=True, never_released=False),
)
