"""Report the removals of each pass, the removals of other learners, and the final proofs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from voile.core.rounding import exact
from voile.documents import theory
from voile.documents.model.quantities import ONE_PERCENT
from voile.documents.replacements.kinds import is_context
from voile.documents.verbs.report_data import added_passes, judged_on
from voile.report.sections import Audience, Bar, BarChart, Grid, Prose, Section
from voile.report.suppression import FEW, is_few, withheld
from voile.report.wording import share_of

WITHHELD = "–"
WHY_WITHHELD = f"Shares are withheld where a number of fewer than {FEW} would follow."
RULES = {"cost": "minimum expected cost", "accuracy": "the classifier's label"}
DELTA = 0.05
IN_WORDS = {
    "Lemma 1 (1)": "Identifiers found by the passes and those left add up to all.",
    "Lemma 1 (2)": "Harmless tokens lost add up over the passes.",
    "Theorem 1": "The loop ends after at most as many passes as there are tokens.",
    "Theorem 2": (
        "Removing the tokens that the adversary's best classifier marks would cost more in "
        "harmless tokens than the identifiers among them are worth."
    ),
    "Theorem 3": "That classifier finds few identifiers: at most the harmless tokens over L/C.",
    "Lemma 2": "Inspecting the tokens that it marks first is no worse than inspecting at random.",
    "Lemma 3": "How many times more it then finds than at random, at most, by its own counts.",
    "Theorem 4": "The same, by the number of tokens and L/C alone.",
    "Lemma 4": "Theorem 2 for text like the annotated text, with 95% confidence.",
    "Theorem 5": "Theorem 3 for text like the annotated text, with 95% confidence.",
    "Theorem 6": "Theorem 4 for text like the annotated text, with 95% confidence.",
}


def passes_section(data: Mapping[str, Any], audience: Audience) -> Section | None:
    """Show the removals of each pass, and those that the other learners would have made."""
    if not data.get("passes"):
        return None
    taken = added_passes(data)
    identifiers, harmless = _columns(data, audience)
    lines = tuple(
        (
            str(number),
            row["learner"],
            RULES["accuracy" if row["attacker"] else row["decision"]],
            identifiers[place],
            harmless[place],
        )
        for place, (number, row) in enumerate(taken.items())
    )
    grid = Grid(
        ("pass", "learner", "decision rule", "identifiers removed", "harmless tokens removed"),
        lines,
        f"Share of all, as estimated {judged_on(data)}",
        (3, 4),
    )
    few = (WHY_WITHHELD,) if WITHHELD in (*identifiers, *harmless) else ()
    said = Prose(
        (_describe_end(data, len(taken)), *_describe_repeats(data, identifiers, harmless), *few)
    )
    blocks = (grid, said) if taken else (said,)
    return Section("passes", "Removals of each pass", (*blocks, *_learners(data["passes"])))


def _columns(data: Mapping[str, Any], audience: Audience) -> tuple[list[str], list[str]]:
    """Return the shares of all identifiers, and of all harmless tokens, that are removed.

    There is a row for each pass, and then one for further mentions of the removed names.
    """
    found, chosen, taken = data["found"], data["chosen"], added_passes(data).values()
    known = found["identifiers"]
    identifiers = [*(row["removed"] for row in taken), chosen["repeats_identifiers"]]
    harmless = [*(row["harmless"] for row in taken), chosen["repeats_harmless"]]
    whole = found["tokens"] - known
    kept = round((1 - exact(chosen["loss"])) * whole)
    return (
        _shares(identifiers, chosen["left"], known, audience),
        _shares(harmless, kept, whole, audience),
    )


def _shares(parts: Sequence[int], left: int, whole: int, audience: Audience) -> list[str]:
    """Write the parts of a whole; small counts are withheld, with secondary suppression.

    The figure `left` appears in the report's headline, unless it is small itself.
    """
    hidden: frozenset[int] | None = frozenset()
    if audience == "public":
        rows = [(part,) for part in (*parts, left)]
        hidden = withheld(rows, public=() if is_few(left) else (len(parts),))
    shown = [share_of(part / max(whole, 1), whole, audience) for part in parts]
    return [
        WITHHELD if hidden is None or place in hidden else said for place, said in enumerate(shown)
    ]


def _describe_repeats(
    data: Mapping[str, Any], identifiers: Sequence[str], harmless: Sequence[str]
) -> Iterator[str]:
    """Describe the removals of further mentions, in addition to this policy's passes."""
    if not (data["chosen"]["repeats_identifiers"] or data["chosen"]["repeats_harmless"]):
        return
    if WITHHELD in (identifiers[-1], harmless[-1]):
        yield "Further mentions of the removed names are removed as well."
    else:
        yield (
            f"Further mentions of the removed names are {identifiers[-1]} of all identifiers and "
            f"{harmless[-1]} of all harmless tokens; they are removed as well."
        )


def _describe_end(data: Mapping[str, Any], taken: int) -> str:
    """Describe the passes of the policy, and the reason for the end."""
    last = max(row["pass"] for row in data["passes"])
    used = data["chosen"]["passes"]
    if last > taken:
        worth = any(row["change"] < 0 for row in data["passes"] if row["pass"] == last)
        why = f"Pass {last} was tried and not added: what any learner removed was not worth it"
        why += " on each half of the folds." if worth else "."
    elif data["found"]["stopped"] == "interrupted":
        why = "The fit was interrupted after these passes."
    else:
        why = "The fit stopped at its maximum number of passes."
    return why if used == taken else f"{why} This policy stops after {used}."


def _learners(rows: Sequence[Mapping[str, Any]]) -> Iterator[BarChart]:
    """Draw each learner's removals in each pass, without passes in which none removes any."""
    tried = [row for row in rows if not row["attacker"] and row["before"]]
    groups = tuple(
        (
            f"pass {number}",
            tuple(Bar(row["learner"], row["removed"] / row["before"]) for row in of_pass),
        )
        for number, of_pass in groupby(tried, key=itemgetter("pass"))
    )
    if drawn := tuple(group for group in groups if any(bar.value for bar in group[1])):
        yield BarChart(
            drawn,
            "share of the identifiers left before the pass",
            "Identifiers that each learner would remove",
            "internal",
        )


def theory_section(data: Mapping[str, Any]) -> Section | None:
    """Describe the theorems' bounds for this run, or why they do not apply."""
    chosen = data.get("chosen")
    if not chosen:
        return None
    title = "Appendix: proofs"
    if chosen["attacker_tp"] is None or not chosen["optimum"]:
        why = (
            "The theorems do not apply: they are about a local optimum, and this policy stops "
            "before one."
        )
        return Section("theory", title, (Prose((why,)),))
    bounds = _bounds(data)
    plain = Grid(
        ("result", "in words", "here"),
        tuple((one.name, IN_WORDS[one.name], _verdict(one)) for one in bounds),
    )
    numbers = Grid(
        ("result", "statement", "in numbers"),
        tuple((one.name, one.statement, one.verdict) for one in bounds if one.applies),
        "With the run's own numbers",
        audience="internal",
    )
    return Section("theory", title, (Prose((_scope(data),)), plain, numbers))


def _scope(data: Mapping[str, Any]) -> str:
    """Describe the text and the classifier that the theorems refer to."""
    context = " Words associated with identifiers count as identifiers here, as in the loop."
    return (
        "These results are about the annotated text as the committee alone publishes it. "
        "They are about the most accurate classifier tried, which decides by its own rule "
        f"({data['chosen']['attacker_learner']}). Adding it as another pass would cost more than "
        f"it removes, as estimated {judged_on(data)}."
        f"{context * bool(is_context(data['found']['labels']).any())}"
    )


def _bounds(data: Mapping[str, Any]) -> tuple[theory.TheoryBound, ...]:
    """Apply the lemmas and theorems to the run's own numbers, with 1% of tokens inspected.

    If types have different costs, the smallest is used, except in Theorem 1, which uses each type's
    own cost.
    """
    chosen, found = data["chosen"], data["found"]
    costs, types = chosen["costs"], found["types"]
    attacker = theory.TokenConfusion(
        *(chosen[f"attacker_{name}"] for name in ("tp", "fp", "tn", "fn"))
    )
    training, within = None, None
    if chosen["training"] is not None:
        training = theory.TokenConfusion(*chosen["training"])
        within = theory.deviation(DELTA, training.n, found["columns"])
    inspections = max(chosen[ONE_PERCENT[1]], 1)
    taken = added_passes(data).values()
    changes = [theory.change_by_type(row["by_type"], row["fp"], costs) for row in taken]
    return (
        *theory.lemma_1(
            [sum(row["by_type"]) for row in taken],
            [row["fp"] for row in taken],
            missed=(sum(types), sum(chosen["missed"])),
            gone=(0, chosen["lost"]),
        ),
        theory.theorem_1(changes, found["tokens"], sum(types)),
        *theory.bounds_of_run(attacker, inspections, min(costs), training=training, within=within),
    )


def _verdict(bound: theory.TheoryBound) -> str:
    """Describe a bound in words, without numbers of the run or symbols."""
    why = bound.reason.partition(" (")[0]
    if not bound.applies:
        return f"does not apply: {why}"
    if bound.vacuous:
        return "proves nothing here: the bound is above the possible values"
    return ("holds" if bound.holds else "does not hold") + f": {why}" * bool(why)
