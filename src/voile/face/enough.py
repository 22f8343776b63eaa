"""Is it enough? What a report says before it says what a release is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence
from voile.release.criteria import (
    BOUNDS,
    NAMES,
    STANDARDS,
    TITLES,
    Bounds,
    Measure,
    Measurement,
    Name,
    shown,
    threshold,
    worst_figure,
)
from voile.report.sections import Grid, Prose, Section
from voile.report.wording import listed

FOR_WHOM = (
    "Whether this is enough depends on the recipient and the purpose; a determination judges it by "
    "thresholds from named sources (voile determine)."
)


def is_it_enough(
    public: Mapping[str, Any], measures: Sequence[Measure], evidence: Sequence[Evidence]
) -> Section:
    """Return the figures that a determination judges, and the thresholds that have a name.

    public : the release's manifest. measures : the wing's.
    """
    asked = [name for name in NAMES if any(one.criterion == name for one in measures)]
    found = {name: worst_figure(name, measures, public, evidence) for name in asked}
    rows = tuple(
        (TITLES[name], shown(name, figure), f"{figure.says} ({figure.evidence})")
        for name, figure in found.items()
        if figure is not None
    )
    said = []
    if (largest := found.get("re-identification")) is not None:
        group = worst_figure("re-identification", measures, public, (), "group")
        said.append(_by_standards({"largest": largest, "group": group}))
    elif "re-identification" not in asked:
        said += [
            _without_standard(TITLES[name], shown(name, one), one.says)
            for name, one in found.items()
            if one is not None
        ][:1]
    if unknown := [TITLES[name].lower() for name, figure in found.items() if figure is None]:
        them = "it" if len(unknown) == 1 else "them"
        said.append(f"Not measured: {listed(unknown)}. An attack measures {them}.")
    blocks: list[Prose | Grid] = [Prose((*said, FOR_WHOM))]
    if rows:
        titles = ("question", "figure (95% interval)", "evidence")
        blocks.append(Grid(titles, rows, "What a determination judges"))
    return Section("enough", "Is it enough?", tuple(blocks), first=True)


def _by_standards(figures: Mapping[Bounds, Measurement | None]) -> str:
    """Say what the re-identification risk is, and which thresholds of a name it meets."""
    name: Name = "re-identification"
    said = {True: list[str](), False: list[str]()}
    for standard, (limit, source) in STANDARDS.items():
        figure = figures[BOUNDS[standard]]
        if figure is not None:
            own = f": {figure.says}" if BOUNDS[standard] == "group" else ""
            said[figure.most <= limit].append(f"{threshold(name, limit, source)}{own}")
    verdicts = [f"meets {' and '.join(said[True])}"] if said[True] else []
    verdicts += [f"does not meet {' or '.join(said[False])}"] if said[False] else []
    largest = figures["largest"]
    assert largest is not None
    return (
        f"{TITLES[name]} ({largest.says[:1].lower()}{largest.says[1:]}): {shown(name, largest)}. "
        f"The release {' and '.join(verdicts)}."
    )


def _without_standard(question: str, figure: str, says: str) -> str:
    """Say what stands in the place of a re-identification risk, for data that has none."""
    what = f"{says[:1].lower()}{says[1:]}"
    return f"{question} ({what}): {figure}. No published standard sets a limit for it."
