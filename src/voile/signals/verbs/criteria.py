"""The criteria of a determination for messages: the adversary's success in inferring the class."""

from __future__ import annotations

from voile.core.evidence import Evidence, Finding
from voile.release.criteria import AttackedFigure, CriterionMeasure
from voile.signals.attack.attackers import IDENTIFIED
from voile.signals.attack.breaks import KNOWN_PLAINTEXT
from voile.signals.verbs.attack import UNPROTECTED

QUANTITIES = (IDENTIFIED, "right")
"""The current and the former name of the quantity in evidence."""


def _names_the_class(attack: Evidence, found: Finding) -> bool:
    """Return whether a finding is about the class, inferred from messages as sent.

    Anyone who knows a reading and its message finds the class in every release. The report's limits
    state this, so that attack does not count here.
    """
    given = (UNPROTECTED, KNOWN_PLAINTEXT)
    is_sent = attack.attack not in given and found.at is None
    return attack.heading == "inference" and found.quantity in QUANTITIES and is_sent


CRITERIA: tuple[CriterionMeasure, ...] = (
    AttackedFigure("inference", _names_the_class, gain=True, never_released=False),
)
