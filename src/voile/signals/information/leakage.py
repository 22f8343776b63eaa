"""The information of one message about the class, in bits, and the note that states it."""

from __future__ import annotations

from dataclasses import dataclass

from voile.core.evidence import Note

LEAKAGE = (
    "Messages reveal {bits:.3f} of {entropy:.3f} bits of the class, 95% interval {low:.3f} to "
    "{high:.3f}. If there is nothing to reveal, 95 of 100 estimates lie below {null:.3f}."
)


BESIDE = (
    "To an adversary who knows these columns, messages reveal {bits:.3f} more bits of the class, "
    "95% interval {low:.3f} to {high:.3f}. If messages add nothing, 95 of 100 "
    "estimates lie below {null:.3f}."
)

CONSISTENCY = "consistency under every class"
"""The name of the attacker that decodes each message under every class."""
UNTRIED = "neural networks, and adversaries who know some readings with their messages"
"""The attackers that no figure covers."""


@dataclass(frozen=True)
class ClassInformation:
    """An estimate of the information of the readings about the class, in bits.

    Parameters
    ----------
    bits : the estimate. It can be below 0 by chance if the readings reveal nothing.
    low, high : the 95% interval, from the spread of the subjects' contributions.
    null : the 95th percentile of the estimate for shuffled classes, for which there is nothing to
        reveal.
    p_value : share of shuffles with an estimate at least as large, >= 1 / (shuffles + 1).
    entropy : H(C) in bits, the largest possible information.
    """

    bits: float
    low: float
    high: float
    null: float
    p_value: float
    entropy: float


def leakage(information: ClassInformation, *, beside: bool = False) -> Note:
    """Return a note of the information of one message, or of its addition to known columns."""
    names = ["bits", "low", "high", "null"]
    if not beside:
        names.append("entropy")
    return Note(BESIDE if beside else LEAKAGE, {name: getattr(information, name) for name in names})
