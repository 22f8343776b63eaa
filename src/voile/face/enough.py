"""The report section "Is it enough?", which comes before the description of the release."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from voile.core.evidence import Evidence
from voile.release.claims import StandardClaim, Status, find_claims, list_claims, threshold
from voile.release.criteria import (
    NAMES,
    TITLES,
    CriterionMeasure,
    CriterionMeasurement,
    Name,
    format_figure,
    worst_figure,
)
from voile.release.manifest import ACCEPTED
from voile.report.sections import Grid, Prose, Section
from voile.report.wording import join_names

FOR_WHOM = (
    "Whether this risk is acceptable depends on the recipient and the purpose. A "
    "determination compares it with thresholds from named sources (voile "
    "determine)."
)


def is_it_enough(
    public: Mapping[str, Any],
    measures: Sequence[CriterionMeasure],
    evidence: Sequence[Evidence],
    *,
    parts: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
) -> Section:
    """Return the section with the figures that a determination evaluates, and the named thresholds.

    Parameters
    ----------
    public : the public manifest of the release.
    measures : the criteria of the module.
    evidence : the findings of attacks.
    parts : the public manifests of the parts of a study, by name.
    """
    asked = [name for name in NAMES if any(one.criterion == name for one in measures)]
    found = {name: worst_figure(name, measures, public, evidence) for name in asked}
    rows = tuple(
        (TITLES[name], format_figure(name, figure), f"{figure.says} ({figure.evidence})")
        for name, figure in found.items()
        if figure is not None
    )
    said = [*_list_accepted(public, parts)]
    claims = find_claims(public, measures, evidence)
    if (largest := found.get("re-identification")) is not None:
        said.append(_by_standards(largest, claims))
    elif "re-identification" not in asked:
        said += [
            _without_standard(TITLES[name], format_figure(name, one), one.says)
            for name, one in found.items()
            if one is not None
        ][:1]
    if unknown := [TITLES[name].lower() for name, figure in found.items() if figure is None]:
        them = "it" if len(unknown) == 1 else "them"
        said.append(f"Not measured: {join_names(unknown)}. An attack measures {them}.")
    blocks: list[Prose | Grid] = [Prose((*said, FOR_WHOM))]
    if rows:
        titles = ("question", "figure (95% interval)", "evidence")
        blocks.append(Grid(titles, rows, "Questions of a determination"))
    if "re-identification" in asked:
        blocks.append(list_claims(claims))
    return Section("enough", "Is it enough?", tuple(blocks), first=True)


def _list_accepted(
    public: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    """Yield the reason for each accepted risk of a release and of the parts of a study."""
    for name, one in {"": public, **parts}.items():
        if (reason := one.get(ACCEPTED)) is not None:
            part = f" of part {name}" if name else ""
            yield f"Accepted risk{part}: {reason} (see In short)."


def _by_standards(largest: CriterionMeasurement, claims: Sequence[StandardClaim]) -> str:
    """Return the re-identification risk with the named thresholds that it meets or misses."""
    name: Name = "re-identification"
    said: dict[Status, list[str]] = {"met": [], "not met": []}
    for one in claims:
        if one.status in said and one.standard.limit:
            own = f": {one.says}" if one.standard.bounds == "group" else ""
            limit, source = one.standard.limit, one.standard.source
            said[one.status].append(f"{threshold(name, limit, source)}{own}")
    verdicts = [f"meets {' and '.join(said['met'])}"] if said["met"] else []
    verdicts += [f"does not meet {' or '.join(said['not met'])}"] if said["not met"] else []
    says = f"{largest.says[:1].lower()}{largest.says[1:]}"
    risk = f"{TITLES[name]} ({says}): {format_figure(name, largest)}."
    return f"{risk} The release {' and '.join(verdicts)}." if verdicts else risk


def _without_standard(question: str, figure: str, says: str) -> str:
    """Return the text for data without a re-identification risk: one question and its figure."""
    what = f"{says[:1].lower()}{says[1:]}"
    return f"{question} ({what}): {figure}. No published standard sets a limit for it."
