"""The figures of a release as its public manifest has them: means, which count nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from voile.study.adversary.acquaintance import ALL, Reach
from voile.study.adversary.date_attack import THREE, DateRisk
from voile.study.risk.measure import MATCHES


def mean_risks(figures: Mapping[str, float]) -> dict[str, float]:
    """Return the mean risks of the public manifest: matches by subject."""
    subjects = figures["subjects"] or 1.0
    return {f"{name}_mean_risk": figures[name] / subjects for name in MATCHES}


def known_risks(known: Sequence[Reach], dates: DateRisk | None) -> dict[str, float]:
    """Return the mean risks of who knows what all parts show of a person, or three true dates."""
    names = {ALL: "all_parts_known", THREE: "three_dates_known"}
    reached = [*known, *(dates.reaches if dates else ())]
    return {
        f"{names[one.knows]}_mean_risk": one.matches / one.people
        for one in reached
        if one.knows in names
    }
