"""The findings of a study's release, and the shares that its public manifest contains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.core.rounding import round_number
from voile.gate.finding import NOBODY, GateFinding, StatedAdversary
from voile.gate.people import ALONE, FEWEST, KNOWS_ALL, MATCHES
from voile.gate.values.findings import ValueFinding
from voile.report.suppression import FEW
from voile.study.adversary.acquaintance import (
    ALL,
    GAPS,
    ONE_ROW,
    KnownFacts,
    by_knowledge,
    known_facts,
)
from voile.study.adversary.date_attack import KNOWS_DATES, THREE
from voile.study.risk.guessing import ColumnGuess
from voile.study.risk.measure import MATCHES as MATCHED
from voile.study.risk.remedies import PlanRemedy
from voile.study.text.certify import MentionCertificate

FACTS = {0: "no_fact", 1: "one_fact", 2: "two_facts", 3: "three_facts", None: "all_facts"}
"""The names in figures for the number of facts that an adversary knows."""
ALL_ALONE = f"{FACTS[None]}_alone"
JOINT = StatedAdversary(
    "links every person to the population by the table, other rows and what texts still show",
    "release and population",
)
INFORMED = StatedAdversary(
    "knows the table's columns of a released person, and some facts", "release and source"
)
READS = StatedAdversary(
    "reads the texts of each person, and knows the value of others", "release and source"
)
COUNTS = StatedAdversary("has the source and the rules for mentions", "release and source")
JOINT_MAX = "joint_at_recall_max"


def joint_counts(figures: Mapping[str, float]) -> Iterator[GateFinding]:
    """Yield the expected matches of the table and of all parts, for the data holder only."""
    for name, value in figures.items():
        if name == "subjects":
            yield NOBODY.finds(name, value, "people")
        elif name != JOINT_MAX:
            yield JOINT.finds(name, value, "people", n=figures["subjects"])


def joint_risks(figures: Mapping[str, float]) -> Iterator[GateFinding]:
    """Yield the risks for the public manifest: matches per subject, and the largest at recall."""
    subjects = figures["subjects"] or 1.0
    for name in MATCHED:
        yield JOINT.finds(f"{name}_mean_risk", figures[name] / subjects, "probability")
    yield JOINT.finds("joint_at_recall_max_risk", figures[JOINT_MAX], "probability")
    yield JOINT.finds("named_in_text", figures["left_named"] / subjects, "share")


def known_risks(known: Sequence[GateFinding]) -> Iterator[GateFinding]:
    """Yield the risks from adversaries who know facts of a person.

    They know all facts, three true dates, or a few facts.
    """
    found = by_knowledge(known)
    if every := found.get(ALL):
        least = every[FEWEST].value
        yield KNOWS_ALL.finds("all_parts_alone", _share(every[ALONE]), "share")
        group = 1 / least if least >= FEW else 1.0  # smaller groups are not published
        yield KNOWS_ALL.finds("all_parts_group_risk", group, "probability")
    for of, adversary, name in ((ALL, KNOWS_ALL, "all_parts"), (THREE, KNOWS_DATES, "three_dates")):
        if of in found:
            risk = _share(found[of][MATCHES])
            yield adversary.finds(f"{name}_known_mean_risk", risk, "probability")
    if apart := [_share(own[ALONE]) for of, own in found.items() if of.startswith(ONE_ROW)]:
        yield KNOWS_ALL.finds("one_row_alone", max(apart), "share")
    alone = [_share(found[GAPS][ALONE])] if GAPS in found else []
    for one in (x for x in known_facts(known) if x.part == ALL and x.people):
        name = FACTS[one.facts]
        yield INFORMED.finds(f"{name}_known_mean_risk", one.mean, "probability")
        if one.facts is None:
            alone.append(one.alone / one.people)
        elif one.facts:
            yield INFORMED.finds(f"{name}_alone", one.alone / one.people, "share")
    if alone:
        yield INFORMED.finds(ALL_ALONE, max(alone), "share")


def text_counts(
    guesses: Sequence[ColumnGuess], mentions: Mapping[str, MentionCertificate]
) -> Iterator[GateFinding]:
    """Yield the accuracy of each guess from texts, and the mentions of each part and type."""
    for one in guesses:
        ends = (one.low, one.high)
        yield READS.finds("guessed", one.accuracy, "share", n=one.people, of=one.column,
                          interval=ends, expected=one.chance)  # fmt: skip
    for part, counted in mentions.items():
        for name, counts in counted.to_data().items():
            for label, n in counts.items():
                yield COUNTS.finds(name, n, "mentions", of=f"{part}.{label}")


def share_with_values(found: ValueFinding) -> GateFinding:
    """Return the people with own unreleased values as a share of the searched people."""
    who = StatedAdversary(found.knows, found.origin)
    return who.finds("values_in_text", found.value / (found.n or 1), "share")


def public_facts(one: KnownFacts) -> dict[str, Any]:
    """Return the mean risk from one adversary, rounded up to two digits."""
    return {"part": one.part, "facts": one.facts, "most": round_number(one.mean, "up")}


def public_remedy(one: PlanRemedy) -> dict[str, Any]:
    """Return a remedy with its gain as a share, rounded down to two digits."""
    helped = round_number(one.helped / one.alone, "down")
    return {"place": one.place, "option": one.option, "helped": helped, "loss": one.loss}


def _share(found: GateFinding) -> float:
    return found.value / (found.n or 1)
