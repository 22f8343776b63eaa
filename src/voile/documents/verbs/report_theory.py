"""What the report says of the lemmas and theorems, with the run's own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.documents.context import is_context
from voile.documents.learning.quantities import ONE_PERCENT
from voile.documents.theory import (
    Bound,
    Confusion,
    bounds_of_run,
    change_by_type,
    cost_by_type,
    deviation_of_dimension,
    lemma_1,
    theorem_1,
)
from voile.documents.verbs.report_data import added_passes, judged_on
from voile.report.sections import Grid, Prose, Section

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
    bounds = _bounds(story)
    said = Prose((_of(story),))
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


def _of(story: Mapping[str, Any]) -> str:
    """Say of which text and whom the theorems speak."""
    context = " Words that tell of an identifier count as identifiers here, as in the loop."
    return (
        "For the annotated text as the committee alone publishes it, and the most accurate of the "
        f"classifiers tried, by its own rule ({story['chosen']['attacker_learner']}): no pass of "
        f"it would pay, judged {judged_on(story)}."
        f"{context * bool(is_context(story['found']['labels']).any())}"
    )


def _bounds(story: Mapping[str, Any]) -> tuple[Bound, ...]:
    """Put the run's own numbers into the lemmas and theorems, at 1% of tokens inspected.

    Where types have costs of their own the smallest counts, but in Lemma 1 and Theorem 1, which
    take each type at its own.
    """
    chosen, found = story["chosen"], story["found"]
    costs, types = chosen["costs"], found["types"]
    attacker = Confusion(*(chosen[f"attacker_{name}"] for name in ("tp", "fp", "tn", "fn")))
    training, within = None, None
    if chosen["training"] is not None:
        training = Confusion(*chosen["training"])
        within = deviation_of_dimension(DELTA, training.n, found["columns"])
    inspections = max(chosen[ONE_PERCENT[1]], 1)
    changes = [
        change_by_type(row["by_type"], row["fp"], costs) for row in added_passes(story).values()
    ]
    before = cost_by_type(types, 0, costs)
    after = cost_by_type(chosen["missed"], chosen["lost"], costs)
    return (
        lemma_1(changes, before, after),
        theorem_1(changes, attacker, sum(types), min(costs)),
        *bounds_of_run(attacker, inspections, min(costs), training=training, within=within),
    )


def _verdict(bound: Bound) -> str:
    """Say it without a number of the run."""
    if not bound.applies:
        return f"does not apply: {bound.reason}"
    if bound.vacuous:
        return "vacuous: it says nothing here"
    return "holds" if bound.holds else "does not hold"
