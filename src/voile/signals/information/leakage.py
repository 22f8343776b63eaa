"""The note of an attack that the report's headline names: how many bits one message reveals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from voile.core.evidence import Note

if TYPE_CHECKING:
    from voile.signals.information.mutual import Information

LEAKAGE = (
    "Messages reveal {bits:.3f} of {entropy:.3f} bits of the class, 95% interval {low:.3f} to "
    "{high:.3f}; where there is nothing to reveal, 95 of 100 estimates lie below {null:.3f}."
)


def leakage(information: Information) -> Note:
    """Say how many bits of the class one message reveals."""
    names = ("bits", "entropy", "low", "high", "null")
    return Note(LEAKAGE, {name: getattr(information, name) for name in names})
