"""The report's data from a kit, gathered so that the report needs no kit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from voile.core.rounding import StatingRules

if TYPE_CHECKING:
    from voile.signals.model.content import SignalsContent
    from voile.signals.model.policies import SignalsPolicy

STATING = StatingRules(at_least=frozenset({"bits_low"}))


def report_data(
    content: SignalsContent, policy: SignalsPolicy | None, number: int | None
) -> dict[str, Any]:
    """Return the report's data, with the policy and its number on the frontier.

    An edited policy has no number.
    """
    figures = content.figures.to_pydict()
    story: dict[str, Any] = {
        "frontier": figures,
        "before": dict(content.before),
        "consistency": dict(content.found.get("consistency", {})),
        "holds": content.holds(),
        "visibility": content.visibility,
        "columns": list(content.reader.columns),
        "time": content.reader.time,
        "private": content.reader.private,
        "sessions": _sessions(content),
    }
    if policy is not None:
        story["policy"] = policy.to_data()
    if number is not None:
        story["chosen"] = content.figures.slice(number, 1).to_pylist()[0]
    return story


def _sessions(content: SignalsContent) -> str:
    """Return a sentence on the kit's map for whole sessions, and on their leakage."""
    if content.sessions is None:
        return ""
    held = (
        "It also holds a map of sequences, for sessions. " if content.sequence is not None else ""
    )
    return f"{held}{content.sessions.summary_sentence}"
