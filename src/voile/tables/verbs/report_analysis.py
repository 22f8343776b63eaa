"""Report on the data holder's own analysis, under the policies of a frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.report.sections import Audience, Grid, LineChart, Prose, Section, Series
from voile.tables.verbs.wording import CALLED, name_risk

SAID = (
    "An interval is the 95% interval of a jackknife over subjects. The overlap of two intervals is "
    "the mean of the shares that they have in common. It is 100% if the release gives the source's "
    "interval. It is 0% if they do not meet or the release does not determine a number."
)


def own_analysis(data: Mapping[str, Any], audience: Audience) -> Section | None:
    """Describe how much of the data holder's own model or function a release preserves.

    Coefficients of the source are internal: together with all rows except one, they would reveal
    that row. The public report contains mean overlaps and scores, with two digits.
    """
    analysis = data.get("analysis")
    if analysis is None:
        return None
    kept = [one for _, one in analysis["policies"]]
    said = [
        f"The data holder's analysis is a {analysis['asked']}."
        if analysis["score_name"]
        else f"The analysis is {analysis['asked']}.",
        SAID,
    ]
    rows = [_row("source", None, analysis["source"], 1.0)]
    rows += [
        _row(str(number), risk, one["release"], one["mean_overlap"])
        for (number, one), risk in zip(analysis["policies"], analysis["risk"], strict=True)
    ]
    rows += [
        _row(CALLED.get(name, name), None, one["release"], one["mean_overlap"])
        for name, one in analysis["marks"].items()
    ]
    near = analysis["near"]
    if near is not None:
        one, number = kept[near], analysis["policies"][near][0]
        whose = "the chosen policy" if analysis["exact"] else f"policy {number}, the nearest tried"
        said.insert(1, f"Under {whose}, {_sentence(analysis, one)}.")
    score = analysis["score_name"]
    risk = name_risk(data)
    titles = ("policy", risk, "mean overlap of intervals", *([score] if score else []))
    width = len(titles)
    blocks: list[Any] = [
        Prose(tuple(said)),
        _chart(analysis, kept, risk),
        Grid(titles, tuple(row[:width] for row in rows), "", tuple(range(1, width))),
    ]
    if near is not None:
        blocks.append(_terms(analysis, kept[near]))
    return Section("own-analysis", "The data holder's analysis on the release", tuple(blocks))


def _sentence(analysis: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    overlap = _digits(one["mean_overlap"], percent=True)
    said = f"intervals overlap by {overlap} on average"
    if not analysis["score_name"]:
        return said
    source, release = analysis["source"]["score"], one["release"]["score"]
    return (
        f"{said}, and the {analysis['score_name']} on people left out is {_digits(release)} "
        f"({_digits(source)} for a model of the source)"
    )


def _row(name: str, risk: float | None, found: Mapping[str, Any], overlap: float | None) -> Any:
    return (
        name,
        "" if risk is None else _digits(risk),
        _digits(overlap, percent=True),
        _digits(found["score"]),
    )


def _digits(value: float | None, *, percent: bool = False) -> str:
    """Return a number with two significant digits, as text."""
    if value is None:
        return "not determined"
    shown = float(f"{100 * value if percent else value:.2g}")
    return f"{shown:g}%" if percent else f"{shown:g}"


def _chart(
    analysis: Mapping[str, Any], kept: Sequence[Mapping[str, Any]], called: str
) -> LineChart:
    def series(name: str, values: Sequence[float | None]) -> Series:
        known = [
            (risk, float(f"{value:.2g}"))
            for risk, value in zip(analysis["risk"], values, strict=True)
            if value is not None
        ]
        return Series(name, tuple(r for r, _ in known), tuple(v for _, v in known))

    drawn = [series("mean overlap of intervals", [one["mean_overlap"] for one in kept])]
    if analysis["score_name"]:
        drawn.append(series(analysis["score_name"], [one["release"]["score"] for one in kept]))
    return LineChart(tuple(drawn), called, "kept", "The frontier against the analysis")


def _terms(analysis: Mapping[str, Any], one: Mapping[str, Any]) -> Grid:
    source, release = analysis["source"], one["release"]
    rows = tuple(
        (
            term,
            _estimate(source, place),
            _estimate(release, place),
            _digits(one["overlap"][place], percent=True),
        )
        for place, term in enumerate(source["terms"])
    )
    titles = ("coefficient", "source", "release", "overlap")
    return Grid(titles, rows, "With 95% intervals", (1, 2, 3), "internal")


def _estimate(found: Mapping[str, Any], place: int) -> str:
    value, low, high = (found[name][place] for name in ("value", "low", "high"))
    if value is None:
        return "not determined"
    return f"{value:.3g} ({low:.3g} to {high:.3g})"
