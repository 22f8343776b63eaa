"""Is it enough? What a report says before it says what a release is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.core.evidence import Evidence
from voile.release.criteria import NAMES, STANDARDS, TITLES, Measure, Measurement, worst_figure
from voile.report.sections import Grid, Prose, Section
from voile.report.wording import listed

FOR_WHOM = (
    "Whether this is enough depends on the recipient and the purpose: voile determine judges it by "
    "thresholds from named sources."
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
        (TITLES[name], _shown(figure), f"{figure.says} ({figure.evidence})")
        for name, figure in found.items()
        if figure is not None
    )
    said = []
    if (risk := found.get("re-identification")) is not None:
        said.append(_by_standards(risk))
    if unknown := [TITLES[name].lower() for name, figure in found.items() if figure is None]:
        them = "it" if len(unknown) == 1 else "them"
        said.append(f"Not measured: {listed(unknown)}. An attack measures {them}.")
    blocks: list[Prose | Grid] = [Prose((*said, FOR_WHOM))]
    if rows:
        titles = ("question", "figure (95% interval)", "evidence")
        blocks.append(Grid(titles, rows, "What a determination judges"))
    return Section("enough", "Is it enough?", tuple(blocks), first=True)


def _shown(figure: Measurement) -> str:
    return f"{figure.shown} ({figure.interval})" if figure.interval else figure.shown


def _by_standards(risk: Measurement) -> str:
    verdicts = [
        f"{'meets' if risk.most <= limit else 'does not meet'} {source}"
        for limit, source in STANDARDS.values()
    ]
    return f"{risk.says[:1].upper()}{risk.says[1:]}, {_shown(risk)}: {'; '.join(verdicts)}."
