"""What the report says of the lemmas and theorems, with the run's own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.documents.theory import (
    Bound,
    Counts,
    bounds_of_run,
    deviation_of_dimension,
    theorem_1,
)
from voile.sections import Grid, Prose, Section

DELTA = 0.05


def theory_section(story: Mapping[str, Any]) -> Section | None:
    """Say what the theorems tell of this run, or why they do not apply."""
    chosen = story.get("chosen")
    if not chosen:
        return None
    title = "What is proved"
    if chosen["attacker_tp"] is None or not chosen["optimum"]:
        why = (
            "The theorems do not apply: they speak of a local optimum, and this policy is not the "
            "end of its loop."
        )
        return Section("theory", title, (Prose((why,)),))
    bounds = _bounds(chosen, story["found"])
    said = Prose(
        (
            "For the annotated text as published, and the most accurate of the classifiers tried, "
            f"by its own rule ({chosen['attacker_learner']}): no pass of it would pay.",
        )
    )
    plain = Grid(
        ("", "statement", "in this run"),
        tuple((one.name, one.statement, _verdict(one)) for one in bounds),
    )
    told = Grid(
        ("", "in numbers"),
        tuple((one.name, one.verdict) for one in bounds if one.applies),
        "With the run's own numbers",
        audience="internal",
    )
    return Section("theory", title, (said, plain, told))


def _bounds(chosen: Mapping[str, Any], found: Mapping[str, Any]) -> tuple[Bound, ...]:
    """Put the run's own numbers into the lemmas and theorems, at 1% of tokens inspected.

    Where types have costs of their own the smallest counts, and Theorem 1 is left out: a pass that
    paid may not have paid at that cost.
    """
    cost = min(chosen["costs"])
    attacker = Counts(*(chosen[f"attacker_{name}"] for name in ("tp", "fp", "tn", "fn")))
    added = [Counts(*counts) for counts in chosen["added"]]
    training, within = None, None
    if chosen["training"] is not None:
        training = Counts(*chosen["training"])
        within = deviation_of_dimension(DELTA, training.n, found["columns"])
    inspections = max(chosen["inspected"][1], 1)
    bounds = bounds_of_run(attacker, inspections, cost, training=training, within=within)
    if len(set(chosen["costs"])) > 1:
        return bounds
    return theorem_1(added, attacker, found["identifiers"], cost), *bounds


def _verdict(bound: Bound) -> str:
    """Say it without a number of the run."""
    if not bound.applies:
        return f"does not apply: {bound.reason}"
    if bound.vacuous:
        return "vacuous: it says nothing here"
    return "holds" if bound.holds else "does not hold"
