"""The figures of a release as its public manifest has them: means, which count nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voile.study.adversary.acquaintance import ALL, Reach
from voile.study.adversary.date_attack import THREE, DateRisk
from voile.study.risk.measure import MATCHES


def mean_risks(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the risks of the public manifest: matches by subject, and the largest at recall."""
    subjects = figures["subjects"] or 1.0
    return {
        **{f"{name}_mean_risk": figures[name] / subjects for name in MATCHES},
        "joint_at_recall_max_risk": figures["joint_at_recall_max"],
        "named_in_text": figures["left_named"] / subjects,
    }


def known_risks(known: Sequence[Reach], dates: DateRisk | None) -> dict[str, float]:
    """Return the mean risks of who knows what all parts show of a person, or three true dates."""
    names = {ALL: "all_parts_known", THREE: "three_dates_known"}
    reached = [*known, *(dates.reaches if dates else ())]
    shares = [one.alone / one.people for one in known if one.knows == ALL]
    alone = {"all_parts_alone": shares[0]} if shares else {}
    return alone | {
        f"{names[one.knows]}_mean_risk": one.matches / one.people
        for one in reached
        if one.knows in names
    }
