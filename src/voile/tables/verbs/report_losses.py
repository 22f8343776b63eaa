"""The report's section on what analysts still have: losses, columns and COUNT queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from voile.report.sections import Audience, Grid, Prose, Section
from voile.report.wording import listed, share, share_of
from voile.tables.policies.family import AnyPolicy
from voile.tables.recoding.marginals import Marginal
from voile.tables.recoding.raking import rake_values
from voile.tables.scoring.losses import (
    LOSSES,
    Grouping,
    hidden_by_column,
    importance_shares,
    losses,
)
from voile.tables.scoring.utility import columns_kept, query_error

if TYPE_CHECKING:
    from voile.tables.people.counts import Counts
    from voile.tables.policies.space import PolicySpace
    from voile.tables.verbs.showing import AnyPublished

NAMED = "distribution {distribution}, resolution {resolution}, width of the groups (NCP) {ncp}"


def loss_data(
    space: PolicySpace, policy: AnyPolicy, published: AnyPublished | None = None
) -> dict[str, Any]:
    """Gather what a policy loses on the fitted source, and keeps of each column."""
    grouping = space.grouping(policy)
    runs = {} if published is None else {one.column: one for one in published.marginals}
    made = {**space.losses(policy), **grouping_data(space, space.counts, grouping)}
    weighted = space.weighted_counts
    if weighted is not None:
        made["weighted"] = {
            **losses(weighted, grouping, importance=space.weights.importance),
            "query_error": query_error(weighted, grouping),
        }
    if published is None or not runs:
        return made
    for one in made["columns"]:
        one["runs"] = len(runs[one["column"]].runs) if one["column"] in runs else 1
    likely = _likely(space, grouping, runs, published.begins)
    return made | {"query_error_with_runs": query_error(space.counts, grouping, likely=likely)}


def grouping_data(space: PolicySpace, counts: Counts, grouping: Grouping) -> dict[str, Any]:
    """Gather what groups of combinations, or of rows, keep of each column."""
    columns = columns_kept(counts, grouping)
    return {
        "hidden_by_labels": _hidden_by_labels(space, counts, grouping),
        "query_error": query_error(counts, grouping),
        "columns": [
            {"column": name, **asdict(kept)}
            for name, kept in zip(space.quasi, columns, strict=True)
        ],
    }


def _hidden_by_labels(space: PolicySpace, counts: Counts, grouping: Grouping) -> float:
    """Return what resolution would be, were a column known by its own labels alone."""
    shares = importance_shares(counts, space.weights.importance)
    hidden = hidden_by_column(counts, grouping, own=True)
    return min(float(shares @ hidden), 1.0)


def _likely(
    space: PolicySpace,
    grouping: Grouping,
    runs: Mapping[str, Marginal],
    begins: Mapping[str, NDArray[np.int64]],
) -> list[NDArray[Any]]:
    """Rake the released people of each column's boxes to the counts that go with a release."""
    held = np.where(grouping.kept[grouping.group], space.counts.sample, 0.0)
    likely: list[NDArray[Any]] = list(grouping.values)
    for place, name in enumerate(space.quasi):
        if name in runs:
            inside, box = grouping.values[place], grouping.box[grouping.group, place]
            people = np.bincount(box, held, len(inside)).astype(np.float64)
            public = np.array(runs[name].public.people, dtype=np.float64)
            likely[place] = rake_values(inside, people, begins[name], public)
    return likely


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
    """Return each loss, and the remaining detail of each column.

    is_fitted : whether the fit counted the queries and the columns; else they are the release's.
    """
    lost = data.get("lost")
    if lost is None:
        return None
    named = {name: share(lost[name]) for name in ("distribution", "resolution", "ncp")}
    where = "of the written release" if "is_measured" in lost else "on the fitted source, predicted"
    said = (
        f"Loss {where}: {NAMED.format(**named)}. Distribution counts how far values "
        "are from even within a group, resolution the share of each column's entropy that is left "
        "within groups of people who share all labels, NCP how much of each domain a group covers. "
        "None of them alone says what an analysis loses.",
        *_by_labels(lost),
        f"{'By the count of the fit, h' if is_fitted else 'H'}alf of 1,000 random COUNT queries "
        "on the release, of one to three columns, are off by more than "
        f"{_error(lost['query_error'], audience)}.",
        *_runs(lost, audience),
        *_weighted(lost, audience),
        *_single([one["column"] for one in lost["columns"] if one["groups"] == 1]),
    )
    rows = tuple(_row(one, data["subjects"], audience) for one in lost["columns"])
    counted = ("runs counted",) if "query_error_with_runs" in lost else ()
    titles = ("column", "labels", *counted, "entropy kept", "people whose rare value was merged")
    caption = (
        f"What is left of each column{', as the fit counted it' * is_fitted}; a value is rare "
        "where fewer people have it than half of an even share"
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
            "A small group holds few values of any column, even of a column that was merged into "
            "one group, so that little of it seems lost. By each column's labels alone, "
            f"{share(lost['hidden_by_labels'])} of the columns' entropy is lost."
        )


def _error(error: float, audience: Audience) -> str:
    """Write an error of queries around records, of which a second digit would reveal one."""
    return share(error) if audience == "internal" else f"about {share(float(f'{error:.1g}'))}"


def _runs(lost: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    if "query_error_with_runs" in lost:
        columns = listed([one["column"] for one in lost["columns"] if one["runs"] > 1])
        yield (
            f"The release's manifest counts people by runs of values of {columns}: with these "
            "counts, half of the queries are off by more than "
            f"{_error(lost['query_error_with_runs'], audience)}."
        )


def _weighted(lost: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    """Say what an analyst who weights gets, which is not what policies were searched for."""
    if "weighted" in lost:
        own = lost["weighted"]
        named = {name: share(own[name]) for name in ("distribution", "resolution", "ncp")}
        yield (
            f"Of people as the sampling weights count them, the loss is: {NAMED.format(**named)}; "
            f"half of the queries are off by more than {_error(own['query_error'], audience)}. "
            "Policies were searched for the loss of the people in the data, who count alike."
        )


def _single(columns: Sequence[str]) -> Iterator[str]:
    if len(columns) == 1:
        yield f"Column {columns[0]} is one group: the release does not distinguish its values."
    elif columns:
        yield (
            f"Columns {listed(columns)} are one group each: the release does not distinguish "
            "their values."
        )


def _row(one: Mapping[str, Any], people: float, audience: Audience) -> tuple[str, ...]:
    merged = share_of(one["rare_lost"], people, audience)
    runs = (f"{one['runs']:,}",) if "runs" in one else ()
    return one["column"], f"{one['groups']:,}", *runs, share(one["entropy"]), merged
