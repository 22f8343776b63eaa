"""The figures of a release as its public manifest has them: means, which count nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.rounding import rounded
from voile.report.suppression import FEW
from voile.study.adversary.acquaintance import ALL, GAPS, Reach
from voile.study.adversary.date_attack import THREE, DateRisk
from voile.study.adversary.informed import Informed
from voile.study.risk.measure import MATCHES

FACTS = {0: "no_fact", 1: "one_fact", 2: "two_facts", 3: "three_facts", None: "all_facts"}
"""How many facts an adversary knows, as figures name it."""
ALL_ALONE = f"{FACTS[None]}_alone"


def mean_risks(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the risks of the public manifest: matches by subject, and the largest at recall."""
    subjects = figures["subjects"] or 1.0
    return {
        **{f"{name}_mean_risk": figures[name] / subjects for name in MATCHES},
        "joint_at_recall_max_risk": figures["joint_at_recall_max"],
        "named_in_text": figures["left_named"] / subjects,
    }


def known_risks(
    known: Sequence[Reach], dates: DateRisk | None, informed: Sequence[Informed]
) -> dict[str, float]:
    """Return the risks of who knows facts of a person: all, three true dates, or a few facts."""
    found = _acquaintance_risks(known, dates)
    risks = _informed_risks(informed)
    gaps = [one.alone / one.people for one in known if one.knows == GAPS]
    most = max([*gaps, *(risks[name] for name in (ALL_ALONE,) if name in risks)], default=None)
    return found | risks | ({} if most is None else {ALL_ALONE: most})


def _acquaintance_risks(known: Sequence[Reach], dates: DateRisk | None) -> dict[str, float]:
    names = {ALL: "all_parts_known", THREE: "three_dates_known"}
    reached = [*known, *(dates.reaches if dates else ())]
    every = next((one for one in known if one.knows == ALL), None)
    alone = (
        {}
        if every is None
        else {
            "all_parts_alone": every.alone / every.people,
            "all_parts_group_risk": 1 / every.smallest if every.smallest >= FEW else 1.0,
        }
    )
    return alone | {
        f"{names[one.knows]}_mean_risk": one.matches / one.people
        for one in reached
        if one.knows in names
    }


def _informed_risks(informed: Sequence[Informed]) -> dict[str, float]:
    joined = [one for one in informed if one.part == ALL and one.people]
    risks = {f"{FACTS[one.facts]}_known_mean_risk": one.most / one.people for one in joined}
    return risks | {
        f"{FACTS[one.facts]}_alone": one.alone / one.people for one in joined if one.facts != 0
    }


def public_informed(one: Informed) -> dict[str, Any]:
    """Return the means of one adversary, two digits rounded up."""
    people = one.people or 1
    means = {"drawn": one.matches / people, "most": one.most / people}
    shown = {name: rounded(x, "up") for name, x in means.items()}
    return {"part": one.part, "facts": one.facts, **shown}
