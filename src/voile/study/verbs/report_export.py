"""The report's section on an export: its released and unreleased content, with row counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from voile.report.sections import Audience, Bullets, Grid, Heading, Prose, Section
from voile.study.study_release import EXPORT, StudyRelease

TITLE = "Released and unreleased content of the export"
_ROWS = (
    "Each row of the source is released, suppressed or rejected. Suppressed rows are of people or "
    "types that are not released; rejected rows cannot be processed."
)
FATES = ("read", "released", "suppressed", "rejected")
_LEFT = "Content that no rule releases."
_ELEMENTS = "Other elements that voile removed from released rows, with the number of rows."


def write_section(release: StudyRelease, audience: Audience) -> Section:
    """Return the row counts of each type of the export, and its unreleased content.

    audience : the public report has the content and the reasons, without counts.
    """
    if audience == "public":
        public = release.public.get(EXPORT, {}).get("unreleased", ())
        names: dict[str, list[str]] = {}
        for one in public:
            names.setdefault(one["why"], []).append(one["name"])
        content = tuple((why, ", ".join(own)) for why, own in names.items())
        grid = Grid(("why it is not released", "content"), content, _LEFT)
        return Section("export", TITLE, (grid,) if content else ())
    private: Mapping[str, Any] = (release.private or {}).get(EXPORT, {})
    if not private:
        return Section("export", TITLE, ())
    counts, uncovered = sorted(private["counts"].items()), private.get("uncovered", ())
    reasons = tuple(
        f"{name}: {n:,} not released: {why}"
        for name, one in counts
        for why, n in one["set_aside_by"].items()
    )
    listed = {one["name"] for one in uncovered}
    removed = [
        each
        for _, one in counts
        for each in sorted(one["dropped_fields"].items())
        if each[0] not in listed
    ]
    rows = [(name, *(one[fate] for fate in FATES)) for name, one in counts]
    left = tuple((one["name"], f"{one['rows']:,}", one["why"]) for one in uncovered)
    grids = (
        Grid(("content", "rows", "why it is not released"), left, _LEFT, (1,), "internal"),
        _grid(("element", "rows"), removed, _ELEMENTS),
    )
    fates = (Heading("Why rows are not released"), Bullets(reasons, "internal")) if reasons else ()
    shown = (_grid(("type", *FATES), rows), *fates, *(one for one in grids if one.rows))
    return Section("export", TITLE, (Prose((_ROWS,), "internal"), *shown))


def _grid(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]], caption: str = "") -> Grid:
    """Return a grid of names and counts for the data holder."""
    cells = tuple((name, *(f"{n:,}" for n in counts)) for name, *counts in rows)
    return Grid(columns, cells, caption, tuple(range(1, len(columns))), "internal")
