"""The report's section on what analysts still have: losses, columns and COUNT queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from voile.report.sections import Audience, Grid, Prose, Section
from voile.report.wording import listed, share, share_of
from voile.tables.policies.family import AnyPolicy
from voile.tables.scoring.utility import columns_kept, query_error

if TYPE_CHECKING:
    from voile.tables.policies.space import PolicySpace

NAMED = "distribution {distribution}, resolution {resolution}, width of the groups (NCP) {ncp}"


def loss_data(space: PolicySpace, policy: AnyPolicy) -> dict[str, Any]:
    """Gather what a policy loses on the fitted source, and keeps of each column."""
    grouping = space.grouping(policy)
    columns = columns_kept(space.counts, grouping)
    return {
        **space.losses(policy),
        "query_error": query_error(space.counts, grouping),
        "columns": [
            {"column": name, **asdict(kept)}
            for name, kept in zip(space.quasi, columns, strict=True)
        ],
    }


def analysts(data: Mapping[str, Any], audience: Audience) -> Section | None:
    """Say what is lost by each yardstick, and what is left of each column."""
    lost = data.get("lost")
    if lost is None:
        return None
    named = {name: share(lost[name]) for name in ("distribution", "resolution", "ncp")}
    error = lost["query_error"]
    if audience == "public":  # of boxes drawn around records: a second digit would reveal one
        error = float(f"{error:.1g}")
    said = (
        f"Loss on the fitted source: {NAMED.format(**named)}. Distribution counts how far values "
        "are from even within a group, resolution the share of each column's entropy that groups "
        "hide, NCP how much of each domain a group covers. None of them alone says what an "
        "analysis loses.",
        f"Half of 1,000 random COUNT queries on the release, of one to three columns, are off by "
        f"more than {'about ' * (audience == 'public')}{share(error)}.",
        *_single([one["column"] for one in lost["columns"] if one["groups"] == 1]),
    )
    rows = tuple(_row(one, data["subjects"], audience) for one in lost["columns"])
    titles = ("column", "groups", "entropy kept", "people whose rare value was merged")
    caption = "A value is rare where fewer people hold it than half of an even share"
    return Section(
        "analysts",
        "What is left for analysts",
        (Prose(said), Grid(titles, rows, caption, (1, 2, 3))),
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
    return one["column"], f"{one['groups']:,}", share(one["entropy"]), merged
