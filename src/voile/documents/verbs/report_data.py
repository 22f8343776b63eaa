"""What the report shows of a frontier and of the policy chosen on it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from voile.core.evidence import Note
from voile.core.rounding import Stating

if TYPE_CHECKING:
    from voile.documents.verbs.policies import Policies

IN_SAMPLE = Note(
    "The committee learnt from documents of this release, and misses less in them than in text "
    "that it has not seen. For an unbiased figure, attack a release of other annotated documents."
)
STATING = Stating(
    at_least=frozenset(
        {"published_tokens", "published_sentences", "published_documents", "risk_low"}
    )
)
SHOWN = ("number", "miss_cost", "passes", "risk", "risk_low", "risk_high", "loss")


def report_data(policies: Policies, number: int | None) -> dict[str, Any]:
    """Gather what a report shows, so that it can be written later without the kit.

    Of the policy applied, `number`, it holds words of the text, for the data holder alone.
    """
    data: dict[str, Any] = {
        "frontier": policies.figures.select(SHOWN).to_pydict(),
        "repeats": policies.with_repeats,
        "found": {name: x for name, x in policies.found.items() if name != "key"},
        "lists": dict(policies.lists),
    }
    if number is not None:
        chosen = policies.figures.slice(number, 1).to_pylist()[0]
        rows = policies.passes.to_pylist()
        data["chosen"] = chosen
        data["passes"] = [row for row in rows if row["miss_cost"] == chosen["miss_cost"]]
    return data


def judged_on(data: Mapping[str, Any]) -> str:
    """Say on what text the figures of the fit were estimated."""
    if data and not data["found"]["cross_fit"]:
        return "on text that the classifiers had learnt from: expect more in other text"
    return "on text that the classifiers had not seen"


def added_passes(data: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Return what each pass of the policy's loop added, by its number."""
    return {row["pass"]: row for row in data["passes"] if row["taken"]}


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"
