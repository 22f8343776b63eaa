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


BESIDE = (
    "To an adversary who knows these columns, messages reveal {bits:.3f} bits of the class more, "
    "95% interval {low:.3f} to {high:.3f}; where there is nothing more to reveal, 95 of 100 "
    "estimates lie below {null:.3f}."
)


def leakage(information: Information, *, beside: bool = False) -> Note:
    """Say how many bits of the class one message reveals, or adds to columns beside it."""
    names = ["bits", "low", "high", "null"]
    if not beside:
        names.append("entropy")
    return Note(BESIDE if beside else LEAKAGE, {name: getattr(information, name) for name in names})
