"""What the report tells of a frontier and of the policy chosen on it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.core.evidence import Note
from voile.core.rounding import Stating
from voile.documents.verbs.content import Content

IN_SAMPLE = Note(
    "The committee learnt from documents of this release; it misses less in them than in text "
    "that it has not seen. Attack a release of other annotated documents for an honest figure."
)
STATING = Stating(
    at_least=frozenset(
        {"published_tokens", "published_sentences", "published_documents", "risk_low"}
    )
)
SHOWN = ("number", "miss_cost", "passes", "risk", "risk_low", "risk_high", "loss")


def report_data(content: Content, number: int | None) -> dict[str, Any]:
    """Gather it, so that a report can be written later without the kit.

    Of the policy applied it holds words of the text, for the holder alone; of the others none.
    """
    space = next(iter(content.committees.values())).space
    story: dict[str, Any] = {
        "frontier": content.figures.select(SHOWN).to_pydict(),
        "repeats": content.with_repeats,
        "found": {name: x for name, x in content.found.items() if name != "key"},
        "lists": {name: len(words) for name, words in sorted(space.lists.items())},
    }
    if number is not None:
        chosen = content.figures.slice(number, 1).to_pylist()[0]
        story["chosen"] = chosen
        rows = content.passes.to_pylist()
        story["passes"] = [row for row in rows if row["miss_cost"] == chosen["miss_cost"]]
    return story


def judged_on(story: Mapping[str, Any]) -> str:
    """Say on what text the figures stand."""
    if story and not story["found"]["cross_fit"]:
        return "by classifiers that had learnt from it: in other text more is left"
    return "by classifiers that had not seen it"


def added_passes(story: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Return who was added in each pass of the policy's loop, and what that did."""
    return {row["pass"]: row for row in story["passes"] if row["taken"]}
