"""The report's section on an export: the released and the unreleased content, with its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.report.sections import Bullets, Grid, Heading, Prose, Section
from voile.study.carriers.carrier import SUPPRESSED
from voile.study.study_release import EXPORT, StudyRelease

TITLE = "Released and unreleased content of the export"
_ROWS = (
    "Each row of the source is released, suppressed or rejected. Suppressed rows are of people or "
    "types that are not released; rejected rows cannot be processed."
)
_ELEMENTS = "Elements of released rows that a rule removed, with the number of rows."


def write_section(release: StudyRelease) -> Section:
    """Return the rows of each type of the export, and the elements that rules removed."""
    counts: Mapping[str, Any] = (release.private or {}).get(EXPORT, {}).get("counts", {})
    if not counts:
        return Section("export", TITLE, ())
    rows = tuple((name, *_count_row(one)) for name, one in sorted(counts.items()))
    reasons = tuple(
        f"{name}: {n:,} not released: {why}"
        for name, one in sorted(counts.items())
        for why, n in one["set_aside_by"].items()
    )
    removed = tuple(
        (element, f"{n:,}")
        for _, one in sorted(counts.items())
        for element, n in sorted(one["dropped_fields"].items())
    )
    grid = Grid(
        ("type", "rows", "released", "suppressed", "rejected"),
        rows,
        numeric=(1, 2, 3, 4),
        audience="internal",
    )
    fates = (Heading("Why rows are not released"), Bullets(reasons, "internal")) if reasons else ()
    elements = Grid(("element", "rows"), removed, _ELEMENTS, (1,), "internal")
    blocks = (Prose((_ROWS,), "internal"), grid, *fates, *([elements] if removed else []))
    return Section("export", TITLE, blocks)


def _count_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    by = one["set_aside_by"]
    suppressed = sum(n for why, n in by.items() if why in SUPPRESSED)
    rejected = sum(by.values()) - suppressed
    return tuple(f"{n:,}" for n in (one["read"], one["released"], suppressed, rejected))
