"""Collect the report's facts about a frontier and its chosen policy as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from voile.documents.model.policies import ANNOTATED, NOVELTY, UNCHECKED

if TYPE_CHECKING:
    from voile.documents.model.policies import DocumentsPolicies

SHOWN = (
    "number",
    "miss_cost",
    "passes",
    "risk",
    "risk_low",
    "risk_high",
    "loss",
    "published_tokens",
)


def report_data(policies: DocumentsPolicies, number: int | None) -> dict[str, Any]:
    """Collect the facts for a report, which can then be written without the kit.

    For the applied policy, `number`, they include words of the text, only for the data holder.
    """
    figures, rows = policies.figures.select(SHOWN).to_pydict(), policies.passes.to_pylist()
    data: dict[str, Any] = {
        "frontier": figures,
        "learners": [
            [row["learner"] for row in _list_taken(rows, cost)[:passes]]
            for cost, passes in zip(figures["miss_cost"], figures["passes"], strict=True)
        ],
        "repeats": policies.with_repeats,
        "found": {name: x for name, x in policies.found.items() if name not in ("key", NOVELTY)},
        "lists": dict(policies.lists),
    }
    if number is not None:
        chosen = policies.figures.slice(number, 1).to_pylist()[0]
        data["chosen"] = chosen
        data["passes"] = [row for row in rows if row["miss_cost"] == chosen["miss_cost"]]
    return data


def _list_taken(rows: Sequence[Mapping[str, Any]], miss_cost: float) -> list[Mapping[str, Any]]:
    """Return the passes that the loop of a cost added, in order."""
    return [row for row in rows if row["taken"] and row["miss_cost"] == miss_cost]


def judged_on(data: Mapping[str, Any]) -> str:
    """Describe the text on which the figures of the fit were estimated."""
    against = held_against(data)
    where = f"{against}, on" if against else "on"
    if data and not data["found"]["cross_fit"]:
        return f"{where} text that the classifiers had learnt from: expect more in other text"
    return f"{where} text that the classifiers had not seen"


def held_against(data: Mapping[str, Any]) -> str:
    """Describe the reference of the fit's figures, if it is not annotated text."""
    return UNCHECKED.get(data["found"].get("marks", ANNOTATED), "") if data else ""


def added_passes(data: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Return the row of the classifier that each pass added, by the pass's number."""
    return {row["pass"]: row for row in data["passes"] if row["taken"]}


def in_tokens(miss_cost: float) -> str:
    """Write the weight of a missed identifier."""
    return f"{miss_cost:g} harmless token{'s' * (miss_cost != 1)}"


def format_count(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
