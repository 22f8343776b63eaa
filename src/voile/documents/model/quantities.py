"""What the figures of a fit, of an attack and of a report are called."""

from __future__ import annotations

FOUND, LEFT, REMOVED = "identifiers found", "identifiers left", "harmless tokens removed"
"""Quantities of an attack's findings."""

RATE = ("found", "inspected", "subjects", "deff")
AS_LEFT = tuple(f"{name}_as_left" for name in RATE)
ONE_PERCENT = tuple(f"{name}_1_percent" for name in RATE)
"""Columns of the frontier: of how many tokens that the attacker inspects, of what the committee
leaves, how many are identifiers, of how many subjects, with which design effect. The attacker
inspects as many as are left there, or 1% of all tokens."""

AXES = {"risk": "identifiers left", "loss": "harmless tokens removed"}
"""What risk and loss are called."""
