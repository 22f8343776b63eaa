"""Names of the figures of a fit, an attack and a report."""

from __future__ import annotations

FOUND, LEFT, REMOVED = "identifiers found", "identifiers left", "harmless tokens removed"
"""The quantities of an attack's findings."""

RATE = ("found", "inspected", "subjects", "deff")
AS_LEFT = tuple(f"{name}_as_left" for name in RATE)
ONE_PERCENT = tuple(f"{name}_1_percent" for name in RATE)
"""Columns of the frontier: the attacker's finds among the tokens that the committee leaves.

They are the identifiers found, the tokens inspected, the subjects, and the design effect. The
attacker inspects as many tokens as there are identifiers left, or 1% of all tokens.
"""

AXES = {"risk": "identifiers left", "loss": "harmless tokens removed"}
"""The names of risk and loss."""
