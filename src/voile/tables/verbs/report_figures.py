"""Report tables of figures: risks before and after, and the optimality gap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.gate.source_risks import find_source_figures
from voile.gate.table import RISK_WITHOUT
from voile.report.sections import Audience, Bar, BarChart, Grid, Prose, Section
from voile.report.suppression import FEW
from voile.report.wording import (
    format_people,
    join_names,
    needs_suppression,
    share,
    share_and_odds,
    share_of,
)
from voile.tables.people.counted_boxes import ASSUMPTION
from voile.tables.policies.loss_bound import OPTIMAL
from voile.tables.scoring.catalogue import MEASURES
from voile.tables.scoring.disclosure import OF_SENSITIVE, of_column
from voile.tables.verbs.wording import describe_matches, format_expected

ROWS = (
    "expected_matches",
    "mean_risk",
    "max_risk",
    "share_under_11",
    "k",
    "k_all_rows",
    "k_map",
    "sample_uniques",
    "unique_all_rows",
    "people_below_k",
    "population_uniques",
    "prosecutor_max",
    "prosecutor_mean",
    "groups_under_11",
    "people_under_11",
    "unique_with_kept",
)
TITLES = {
    "groups_under_11": "groups of fewer than 11 released people",
    "people_under_11": "people in these groups",
    "k_all_rows": "people in the smallest group, all rows of a person known",
    "unique_all_rows": "people unique in the release, all their rows known",
    "people_below_k": "people whose rows fewer people share than promised",
    "unique_with_kept": "people unique on all released columns",
    **{name: measure.title for name, measure in MEASURES.items()},
}
RISKS = {"mean_risk", "max_risk", "prosecutor_max", "prosecutor_mean"}
COUNTS = {
    *("k", "k_all_rows", "k_map"),
    *("sample_uniques", "unique_all_rows", "population_uniques", "unique_with_kept"),
    "people_under_11",
    "people_below_k",
}
ALL_ROWS = (
    "A released column joins the rows of a person. The figure “All rows known” counts the people "
    "who have the same rows in the same groups, as often."
)
PER_PERSON = (
    "The constraints hold for all rows of a person together, over the generalised columns. An "
    "adversary who knows every row of a person finds at least k people with the same rows."
)
PROMISED = ("k", "k_all_rows")
"""The figures that are known to be at least k in a release that keeps its promise."""
DRAWN = ("mean_risk", "share_under_11", "prosecutor_mean")
NOTHING = "not proved"
MOST_ROWS = 24


def risks(
    data: Mapping[str, Any],
    figures: Mapping[str, float],
    audience: Audience,
    sensitive: Sequence[str] = (),
    least: int = 1,
    *,
    is_fitted: bool = True,
) -> Section | None:
    """Return the section with every measure of the source and of the release.

    Parameters
    ----------
    figures : the figures of the release, if there is one.
    least : the k that the release is certified to have.
    is_fitted : whether a fit counted the source's figures.
    """
    own = find_source_figures(figures)
    is_fitted = is_fitted and not own
    before, after = own or data.get("before", {}), figures or data.get("after", {})
    if not before:
        return None

    def cell(name: str, side: Mapping[str, float]) -> str:
        promised = least if side is figures and name in PROMISED else 1
        return _write_measure(name, side.get(name), _people(data, side), audience, promised)

    # discernibility depends on each person
    measures = ROWS if audience == "public" else (*ROWS, "discernibility")
    known = [name for name in measures if name in before or name in after]
    sides = (before, after) if after else (before,)
    rows = [(TITLES[name], *(cell(name, side) for side in sides)) for name in known]
    none = [row[0] for row in rows if set(row[1:]) <= {"0", "0%"}]
    rows = [row for row in rows if row[0] not in none]
    rows += [
        (f"{column}: {TITLES[measure]}", "–", f"{after[name]:.3g}")
        for column in sensitive
        for measure in OF_SENSITIVE
        if (name := of_column(measure, column)) in after
    ]
    columns = ("measure", "source", "release")[: 1 + len(sides)]
    by_fit = ", predicted by the fit" if figures else ", as the fit counted it"
    caption = f"The source{by_fit * is_fitted}"
    caption += ", and the release as the gate measured it" * bool(after)
    blocks: list[Any] = [Grid(columns, tuple(rows), caption, (1, 2)[: len(sides)])]
    if none:
        where = "in the source and in the release" if after else "in the source"
        blocks.append(Prose((f"Zero {where}: {join_names(none)}.",)))
    if "k_all_rows" in after:
        blocks.append(Prose((ALL_ROWS,)))
    if data.get("promise") == "person":
        blocks.append(Prose((PER_PERSON,)))
    if after:
        blocks.append(_shares(data, before, after, audience))
    blocks += _contributions(after)
    blocks.append(Prose((f"The population is {data['population']}.", *data["assumptions"])))
    for when in ("source", "release"):
        if data.get(f"uniques_{when}"):
            blocks.append(Prose((_describe_estimate(when, data[f"uniques_{when}"], audience),)))
    if data.get("estimated_matches"):
        said = [_estimated_matches(data["estimated_matches"])]
        if uniques := data.get("estimated_uniques"):
            said.append(_estimated_uniques(uniques, after["sample_uniques"], audience))
        blocks.append(Prose((*said, ASSUMPTION)))
    return Section("risk", "Risk before and after", tuple(blocks))


def _write_measure(
    name: str, value: float | None, people: float, audience: Audience, promised: int
) -> str:
    """Return a measure as text. `promised` is its certified k, or 1 if there is none."""
    if value is None:
        return "–"
    if name in RISKS:
        return share_and_odds(value)
    if audience == "public" and 1 < promised <= value < FEW:
        return f"{promised} to {FEW - 1}" if promised < FEW - 1 else f"{promised}"
    if name in COUNTS:
        return format_people(value, audience)
    if name == "share_under_11":
        return share_of(value, people, audience)
    return format_expected(value) if name == "expected_matches" else f"{value:,.0f}"


def _contributions(figures: Mapping[str, float]) -> Iterator[Grid | Prose]:
    """Report the risk to an adversary who knows all columns except one, largest decrease first."""
    begin = f"{RISK_WITHOUT}("
    without = {name[len(begin) : -1]: x for name, x in figures.items() if name.startswith(begin)}
    whole = figures.get("prosecutor_mean", 0.0)
    if len(without) > 1 and whole > 0:
        rows = tuple(
            (column, share_and_odds(risk), share(1.0 - risk / whole))
            for column, risk in sorted(without.items(), key=lambda one: one[1])
        )
        yield Grid(
            ("column", "average risk without it", "contribution"),
            rows,
            "Contribution of each column to the average risk (prosecutor)",
            (1, 2),
        )
        yield Prose(
            (
                f"The average risk is {share_and_odds(whole)} if the adversary knows all columns. "
                "A contribution is the share of this risk that disappears if the adversary does "
                "not know the column. Contributions need not add up to 100%.",
            )
        )


def _people(data: Mapping[str, Any], side: Mapping[str, float]) -> float:
    """Return the number of people of a side's figures: the release's, or else the source's."""
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
        (TITLES[name], (Bar("source", before[name]), Bar("release", after[name])))
        for name in DRAWN
        if name in before and name in after and not few(name)
    )
    return BarChart(groups, "share", "Source and release, side by side")


def _describe_estimate(when: str, estimate: Sequence[float], audience: Audience) -> str:
    value, low, high = (format_people(x, audience) for x in estimate)
    return (
        f"By the {when}'s columns, {value} people are estimated to be unique in the population. "
        f"The interval for the random draw of records is {low} to {high}; the model may err by "
        "more."
    )


def _estimated_matches(matches: float) -> str:
    return (
        "An adversary who links every record of the release to the population is estimated to "
        f"re-identify {describe_matches(matches)}. The estimate requires that the source is a "
        "random sample of the counted people. The figures above do not rest on this."
    )


def _estimated_uniques(uniques: float, alone: float, audience: Audience) -> str:
    return (
        f"Estimated to be unique in the population: {format_people(uniques, audience)} of the "
        f"people alone in their group ({format_people(alone, audience)})."
    )


def optimality_gap(data: Mapping[str, Any]) -> Section | None:
    """Describe the bound that was proved for all policies, or state that there is none."""
    if not data:
        return None
    proof = data["search"].get("bound")
    if proof is None:
        unproved = (
            "Optimality gap: not computed. Other policies may have a lower loss at the same risk."
        )
        return _section(Prose((unproved,)))
    if all(gap is None for gap in proof["gap"]):
        stopped = "Optimality gap: not computed. The proof was stopped before it found a bound."
        return _section(Prose((stopped,)))
    said = [_of_weights(proof["gap"]), _of_areas(proof)]
    if "chosen" in data and data.get("least_loss") is not None:
        said.append(
            f"The chosen policy loses {share(data['chosen'][1])}. No policy of its risk or less "
            f"loses less than {share(data['least_loss'])}."
        )
    return _section(Prose(tuple(said)), _grid(proof))


def _of_weights(gaps: Sequence[float | None]) -> str:
    proved = [gap for gap in gaps if gap is not None]
    said = (
        "For each weight below, no policy improves loss + weight x relative risk by "
        f"more than {_gap(max(proved))} over the best value found."
    )
    if missing := len(gaps) - len(proved):
        said += f" For {missing} more weights the gap was not computed: the proof was stopped."
    return said


def _of_areas(proof: Mapping[str, Any]) -> str:
    area, hull, staircase = (proof[name] for name in ("area", "hull", "staircase"))
    return (
        f"The area under the frontier found is {staircase:.5f}. The area under any frontier "
        f"is at least {area:.5f} (proved). A weighted sum of loss and risk can prove at "
        f"most {hull}: the difference to the area found lies in the steps of the "
        "frontier."
    )


def _grid(proof: Mapping[str, Any]) -> Grid:
    names = ("weight", "bound", "best", "gap", "seconds")
    rows = tuple(_row(*values) for values in zip(*(proof[name] for name in names), strict=True))
    title = "Loss + weight x relative risk"
    if len(rows) > MOST_ROWS:
        title += f", for some of {len(rows)} weights"
    return Grid(
        ("weight of risk", "proved: at least", "best found", "gap", "seconds"),
        rows[:: -(-len(rows) // MOST_ROWS)],
        title,
        (0, 1, 2, 3, 4),
        "internal",  # an adversary who knows all others could use so many figures
    )


def _section(*blocks: Prose | Grid) -> Section:
    return Section("bound", "Optimality gap", blocks)


def _row(
    weight: float, bound: float | None, best: float, gap: float | None, seconds: float | None
) -> tuple[str, ...]:
    weighs = f"{weight:.3g}" if weight < 100 else f"{weight:,.0f}"
    if bound is None or gap is None or seconds is None:
        return weighs, NOTHING, f"{best:.5f}", "", ""
    return weighs, f"{bound:.5f}", f"{best:.5f}", _gap(gap), f"{seconds:.1f}"


def _gap(gap: float) -> str:
    """Return a gap as text. A gap within rounding errors is 0%.

    >>> _gap(0.0213), _gap(3e-8)
    ('2.1%', '0%')
    """
    return share(gap) if gap > OPTIMAL else "0%"
