"""Names and rules of the figures of fits, attacks, acceptance and reports."""

from __future__ import annotations

from voile.core.evidence import Note
from voile.core.rounding import StatingRules

FOUND, LEFT, REMOVED = "identifiers found", "identifiers left", "harmless tokens removed"
"""The quantities of an attack's findings."""

RATE = ("found", "inspected", "subjects", "deff")
AS_LEFT = tuple(f"{name}_as_left" for name in RATE)
ONE_PERCENT = tuple(f"{name}_1_percent" for name in RATE)
"""Columns of the frontier: the attacker's results on the tokens that the committee leaves.

They are the identifiers found, the tokens inspected, the subjects, and the design effect. The
attacker inspects as many tokens as there are identifiers left, or 1% of all tokens.
"""

AXES = {"risk": "identifiers left", "loss": "harmless tokens removed"}
"""The names of risk and loss."""

ACCEPTANCE = "acceptance"
"""The name, in both manifests, of the proof by reading that few identifiers are left."""
IN_SAMPLE = Note(
    "The committee learnt from documents of this release, and misses less in them than in text "
    "that it has not seen. For an unbiased figure, attack a release of other annotated documents."
)
STATING = StatingRules(
    at_least=frozenset(
        {"published_tokens", "published_sentences", "published_documents", "risk_low"}
    )
)
