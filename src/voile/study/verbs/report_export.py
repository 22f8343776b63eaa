"""The report's section on an export: the released and the unreleased content, with its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.report.sections import Bullets, Grid, Heading, Prose, Section
from voile.study.study_release import EXPORT, StudyRelease

TITLE = "Released and unreleased content of the export"
_ROWS = (
    "Each row of the source is released, suppressed or rejected. Suppressed rows are of people or "
    "types that are not released; rejected rows cannot be processed."
)
FATES = ("read", "released", "suppressed", "rejected")
_LEFT = "Content that no rule releases."
_ELEMENTS = "Elements of released rows that a rule removed, with the number of rows."


def write_section(release: StudyRelease) -> Section:
    """Return the rows of each type of the export, and its content that is not released."""
    private: Mapping[str, Any] = (release.private or {}).get(EXPORT, {})
    counts = sorted(private.get("counts", {}).items())
    reasons = tuple(
        f"{name}: {n:,} not released: {why}"
        for name, one in counts
        for why, n in one["set_aside_by"].items()
    )
    removed = _list_removed(counts)
    left = release.public.get(EXPORT, {}).get("unreleased", ())
    grids = (
        _grid(("type", *FATES), [(name, *(one[f] for f in FATES)) for name, one in counts]),
        _grid(("element", "rows"), removed, _ELEMENTS),
        _grid(("content", "rows"), _list_uncovered(private, removed)),
        Grid(
            ("content", "why it is not released"), tuple((x["name"], x["why"]) for x in left), _LEFT
        ),
    )
    rows, *others = (one for one in grids if one.rows or one is grids[0])
    if not rows.rows and not others:
        return Section("export", TITLE, ())
    fates = (Heading("Why rows are not released"), Bullets(reasons, "internal")) if reasons else ()
    return Section("export", TITLE, (Prose((_ROWS,), "internal"), rows, *fates, *others))


def _list_removed(counts: Sequence[tuple[str, Any]]) -> list[tuple[str, int]]:
    every = (sorted(one["dropped_fields"].items()) for _, one in counts)
    return [each for one in every for each in one]


def _list_uncovered(
    private: Mapping[str, Any], removed: Sequence[tuple[str, int]]
) -> list[tuple[str, int]]:
    """Return the files, types and fields without a rule, but for counted elements."""
    counted = {name for name, _ in removed}
    every = ((one["name"], one["rows"]) for one in private.get("uncovered", ()))
    return [(name, rows) for name, rows in every if name not in counted]


def _grid(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], caption: str = "") -> Grid:
    """Return a grid of names and counts for the data holder."""
    cells = tuple((name, *(f"{n:,}" for n in counts)) for name, *counts in rows)
    return Grid(columns, cells, caption, tuple(range(1, len(columns))), "internal")
