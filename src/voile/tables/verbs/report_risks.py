"""The report's table of risks before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.report.sections import Audience, Bar, BarChart, Grid, Prose, Section
from voile.report.wording import listed, needs_suppression, share, share_of
from voile.tables.scoring.disclosure import of_column
from voile.tables.verbs.wording import format_expected, format_people

ROWS = (
    ("expected_matches", "people expected to be re-identified correctly"),
    ("mean_risk", "average risk of a record"),
    ("max_risk", "largest risk of a record"),
    ("share_under_11", "people in groups of fewer than 11 in the population"),
    ("k", "people in the smallest group of the release (k)"),
    ("k_map", "people in the smallest of these groups in the population (k-map)"),
    ("sample_uniques", "people unique in the release"),
    ("population_uniques", "people unique in the population"),
    ("prosecutor_max", "largest risk of a person known to be in the release (prosecutor)"),
    ("prosecutor_mean", "average risk of a person known to be in the release (prosecutor)"),
    ("unique_with_kept", "people unique on all released columns"),
)
DISCERNIBILITY = ("discernibility", "discernibility: each group's size, squared and added up")
RISKS = {"mean_risk", "max_risk", "prosecutor_max", "prosecutor_mean"}
COUNTS = {"k", "k_map", "sample_uniques", "population_uniques", "unique_with_kept"}
DRAWN = ("mean_risk", "share_under_11", "prosecutor_mean")
SENSITIVE = {
    "distinct_l": "smallest number of values in a group (distinct l-diversity)",
    "entropy_l": "smallest effective number of values in a group (entropy l-diversity)",
    "t_closeness": "largest distance of a group's values from everybody's, 0 to 1 (t-closeness)",
}


def risks(
    data: Mapping[str, Any],
    figures: Mapping[str, float],
    audience: Audience,
    sensitive: Sequence[str] = (),
) -> Section | None:
    """Show every measure of the source and of the release, `figures`, where there is one."""
    before, after = data.get("before", {}), figures or data.get("after", {})
    if not before:
        return None

    def cell(name: str, side: Mapping[str, float]) -> str:
        value = side.get(name)
        if value is None:
            return "–"
        if name in RISKS:
            return share(value)
        if name in COUNTS:
            return format_people(value, audience)
        if name == "share_under_11":
            return share_of(value, _people(data, side), audience)
        return format_expected(value) if name == "expected_matches" else f"{value:,.0f}"

    measures = ROWS if audience == "public" else (*ROWS, DISCERNIBILITY)  # it follows each person
    known = [(name, title) for name, title in measures if name in before or name in after]
    sides = (before, after) if after else (before,)
    rows = [(title, *(cell(name, side) for side in sides)) for name, title in known]
    none = [row[0] for row in rows if set(row[1:]) <= {"0", "0%"}]
    rows = [row for row in rows if row[0] not in none]
    rows += [
        (f"{column}: {title}", "–", f"{after[name]:.3g}")
        for column in sensitive
        for measure, title in SENSITIVE.items()
        if (name := of_column(measure, column)) in after
    ]
    columns = ("measure", "source", "release")[: 1 + len(sides)]
    caption = "The source as it is, and the release" if after else "The source as it is"
    blocks: list[Any] = [Grid(columns, tuple(rows), caption, (1, 2)[: len(sides)])]
    if none:
        where = "in the source and in the release" if after else "in the source"
        blocks.append(Prose((f"Zero {where}: {listed(none)}.",)))
    if after:
        blocks.append(_shares(data, before, after, audience))
    blocks.append(Prose((f"The population is {data['population']}.", *data["assumptions"])))
    for when in ("source", "release"):
        if data.get(f"uniques_{when}"):
            blocks.append(Prose((_estimated(when, data[f"uniques_{when}"], audience),)))
    return Section("risk", "Risk before and after", tuple(blocks))


def _people(data: Mapping[str, Any], side: Mapping[str, float]) -> float:
    """Return how many people the figures of a side are of: the release's, else the source's."""
    return side.get("subjects", float(data["subjects"]))


def _shares(
    data: Mapping[str, Any],
    before: Mapping[str, float],
    after: Mapping[str, float],
    audience: Audience,
) -> BarChart:
    def few(name: str) -> bool:
        return name == "share_under_11" and any(
            needs_suppression(side[name], _people(data, side), audience) for side in (before, after)
        )

    groups = tuple(
        (title, (Bar("source", before[name]), Bar("release", after[name])))
        for name, title in ROWS
        if name in DRAWN and name in before and name in after and not few(name)
    )
    return BarChart(groups, "share", "Source and release, side by side")


def _estimated(when: str, estimate: Sequence[float], audience: Audience) -> str:
    value, low, high = (format_people(x, audience) for x in estimate)
    return (
        f"By the {when}'s columns, {value} people are estimated to be unique in the population "
        f"({low} to {high}, for which records happened to be drawn; the model may err by more)."
    )
