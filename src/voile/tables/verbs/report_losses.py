"""Report the utility for analysts: losses, columns and COUNT queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from voile.gate.analysts import (
    BY_LABELS,
    ENTROPY,
    LABELS,
    QUERY_ERROR,
    RARE_MERGED,
    WITH_RUNS,
)
from voile.report.sections import Audience, Grid, Prose, Section
from voile.report.wording import join_names, share, share_of
from voile.tables.scoring.losses import LOSSES

NAMED = "distribution {distribution}, resolution {resolution}, width of the groups (NCP) {ncp}"


def describe_columns(
    figures: Mapping[str, float], columns: Sequence[str], runs: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """Return the part of a report on the remaining detail, from the gate's figures.

    `runs` are the numbers of runs in the release's marginals, by column.
    """
    detail = [
        {
            "column": name,
            "groups": round(figures[f"{LABELS}({name})"]),
            "entropy": figures[f"{ENTROPY}({name})"],
            "rare_lost": figures[f"{RARE_MERGED}({name})"],
            **({"runs": runs.get(name, 1)} if runs else {}),
        }
        for name in columns
    ]
    said = (QUERY_ERROR, WITH_RUNS, BY_LABELS)
    return {"columns": detail, **{name: figures[name] for name in said if name in figures}}


def with_measured_utility(
    data: Mapping[str, Any],
    figures: Mapping[str, float],
    marginals: Sequence[Mapping[str, Any]] = (),
) -> Mapping[str, Any]:
    """Return the data of a release with the detail of columns that the gate measured."""
    if QUERY_ERROR not in figures or "lost" not in data:
        return data
    runs = {one["column"]: len(one["runs"]) for one in marginals}
    columns = [one["column"] for one in data["strips"]["chosen"]]
    return {**data, "lost": {**data["lost"], **describe_columns(figures, columns, runs)}}


def with_measured_losses(
    data: Mapping[str, Any], figures: Mapping[str, float]
) -> Mapping[str, Any]:
    """Return the data of a release with the losses that the gate measured."""
    risk, _, matches = data["chosen"]
    shown = {**data, "chosen": [risk, figures["information_loss"], matches]}
    if "lost" in data:
        measured = {name: figures[name] for name in LOSSES}
        shown["lost"] = {**data["lost"], **measured, "is_measured": True}
    return shown


def analysts(
    data: Mapping[str, Any], audience: Audience, *, is_fitted: bool = True
) -> Section | None:
    """Return the section on each loss, and on the remaining detail of each column.

    `is_fitted` is whether the fit counted the queries and the columns. Otherwise the figures are
    the release's.
    """
    lost = data.get("lost")
    if lost is None:
        return None
    named = {name: share(lost[name]) for name in ("distribution", "resolution", "ncp")}
    where = "of the written release" if "is_measured" in lost else "on the fitted source, predicted"
    said = (
        (
            f"Loss {where}: {NAMED.format(**named)}. Distribution measures the divergence "
            "between the original values and an even spread over each group. Resolution is "
            "the share of each column's entropy that remains unknown to a reader of the "
            "released labels. NCP is the share of each column's domain that a group "
            "covers. No single measure shows the error of an analysis."
        ),
        *_by_labels(lost),
        (
            f"{'As counted by the fit, t' if is_fitted else 'T'}he median relative error of "
            "1,000 random COUNT queries over one to three columns of the release is "
            f"{_error(lost['query_error'], audience)}."
        ),
        *_runs(lost, audience),
        *_describe_weighted(lost, audience),
        *_single([one["column"] for one in lost["columns"] if one["groups"] == 1]),
    )
    rows = tuple(_row(one, data["subjects"], audience) for one in lost["columns"])
    counted = ("runs counted",) if "query_error_with_runs" in lost else ()
    titles = ("column", "labels", *counted, "entropy kept", "people whose rare value was merged")
    caption = (
        f"Remaining detail of each column{', as counted by the fit' * is_fitted}; a "
        "value is rare if fewer than n / (2 x distinct values) people have it"
    )
    numbers = tuple(range(1, len(titles)))
    return Section(
        "analysts",
        "Utility for analysts",
        (Prose(said), Grid(titles, rows, caption, numbers)),
    )


def _by_labels(lost: Mapping[str, Any]) -> Iterator[str]:
    if "hidden_by_labels" in lost:
        yield (
            "A small group contains few values of any column, even of a column that was "
            "merged into one interval. Its loss then seems small. By each column's labels "
            f"alone, {share(lost['hidden_by_labels'])} of the columns' entropy is lost."
        )


def _error(error: float, audience: Audience) -> str:
    """Return the error of queries as text, with one digit in a public report.

    A second digit would reveal a single record.
    """
    return share(error) if audience == "internal" else f"about {share(float(f'{error:.1g}'))}"


def _runs(lost: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    if "query_error_with_runs" in lost:
        columns = join_names([one["column"] for one in lost["columns"] if one["runs"] > 1])
        yield (
            f"The release's manifest counts people by runs of values of {columns}. With "
            "these counts, the median relative error of the queries is "
            f"{_error(lost['query_error_with_runs'], audience)}."
        )


def _describe_weighted(lost: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    """Describe the loss for an analyst who weights rows. The search used unweighted people."""
    if "weighted" in lost:
        own = lost["weighted"]
        named = {name: share(own[name]) for name in ("distribution", "resolution", "ncp")}
        yield (
            "With people counted by sampling weights, the loss is: "
            f"{NAMED.format(**named)}. The median relative error of the queries is "
            f"{_error(own['query_error'], audience)}. The search used the loss of the "
            "people in the data, with equal weights."
        )


def _single(columns: Sequence[str]) -> Iterator[str]:
    if len(columns) == 1:
        yield (
            f"Column {columns[0]} has a single interval: the release does not distinguish "
            "its values."
        )
    elif columns:
        yield (
            f"Columns {join_names(columns)} have a single interval each: the release does "
            "not distinguish their values."
        )


def _row(one: Mapping[str, Any], people: float, audience: Audience) -> tuple[str, ...]:
    merged = share_of(one["rare_lost"], people, audience)
    runs = (f"{one['runs']:,}",) if "runs" in one else ()
    return one["column"], f"{one['groups']:,}", *runs, share(one["entropy"]), merged
