"""How many bits of the class one message reveals, and the note of an attack that states it."""

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
"""The attacker who decodes each message under every class."""
UNTRIED = "neural networks, and adversaries who know some readings with their messages"
"""Attackers that no figure includes."""


@dataclass(frozen=True)
class ClassInformation:
    """Store how many bits of the class the readings reveal.

    Parameters
    ----------
    bits : the estimate; below 0 by chance if there is nothing to reveal.
    low, high : its 95% interval, by the spread of the subjects' contributions.
    null : the 95th percentile of the estimate with shuffled classes, which reveal nothing.
    p_value : share of such shuffles that revealed as much, from 1 / (shuffles + 1) up.
    entropy : H(C), the most there is to reveal, in bits.
    """

    bits: float
    low: float
    high: float
    null: float
    p_value: float
    entropy: float


def leakage(information: ClassInformation, *, beside: bool = False) -> Note:
    """Return a note of the bits that one message reveals, or adds to known columns."""
    names = ["bits", "low", "high", "null"]
    if not beside:
        names.append("entropy")
    return Note(BESIDE if beside else LEAKAGE, {name: getattr(information, name) for name in names})
