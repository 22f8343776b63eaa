"""The findings on messages that a determination judges: how well the class is inferred."""

from __future__ import annotations

from voile.core.evidence import Evidence, Finding
from voile.release.criteria import AttackedFigure, CriterionMeasure
from voile.signals.attack.attackers import IDENTIFIED
from voile.signals.attack.breaks import KNOWN_PLAINTEXT
from voile.signals.verbs.attack import UNPROTECTED

QUANTITIES = (IDENTIFIED, "right")
"""The quantity's name in evidence, and its first name."""


def _names_the_class(attack: Evidence, found: Finding) -> bool:
    """Return whether the class was inferred from messages as they are sent.

    Anyone who knows a reading with its message finds the class, in every release. The report's
    limits state this.
    """
    given = (UNPROTECTED, KNOWN_PLAINTEXT)
    is_sent = attack.attack not in given and found.at is None
    return attack.heading == "inference" and found.quantity in QUANTITIES and is_sent


CRITERIA: tuple[CriterionMeasure, ...] = (
    AttackedFigure("inference", _names_the_class, gain=True, never_released=False),
)
