"""The found values of a release in its private manifest and on its report; no search is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from voile.gate.values.findings import ValueFinding
from voile.report.sections import Grid, Section

VALUES = "values"
"""The part of the private manifest with the columns and forms of the values that were found."""
LARGEST = 1_000_000_000
"""Bytes of a column of one release that is searched, at most; a larger one is reported."""
NOT_SEARCHED = "columns_not_searched"
VALUES_FOUND = "values_found"
"""The people with own values in the release beyond chance; nothing where some are not searched."""


class ValuesWarning(UserWarning):
    """The release contains more unreleased values than chance explains. Correct their roles."""


def is_large(size: int) -> bool:
    """Say whether a column of so many bytes is too large to search."""
    return size > LARGEST


def detail_values(found: ValueFinding) -> dict[str, Any]:
    """Return the forms of a finding, and its sentence, which the private manifest has too."""
    forms = [asdict(one) for one in found.forms]
    detail = {"name": found.name, "sentence": found.sentence, "forms": forms}
    return {**detail, "not_searched": found.not_searched}


def describe_values(private: Mapping[str, Any]) -> Section | None:
    """Show the values of a release by itself that its bytes have; None where nothing was searched.

    private : the private manifest. The section is for the holder alone.
    """
    details, skipped = private.get(VALUES, ()), private.get("figures", {}).get(NOT_SEARCHED)
    if not details and not skipped:
        return None
    rows = tuple(
        (
            one["column"],
            one["form"],
            one["in_column"],
            f"{one['people']:,.0f}",
            f"{one['expected']:.2g}",
        )
        for detail in details
        for one in detail["forms"]
    )
    said = [f"{one['sentence']}." for one in details]
    if skipped:
        said.append(f"Not searched: {skipped:,.0f} columns of more than {LARGEST:,} bytes.")
    columns = ("unreleased column", "form", "found in", "people", "by chance")
    grid = Grid(columns, rows or (("-",) * 5,), " ".join(said), (3, 4), "internal")
    return Section("values", "Unreleased values in released bytes", (grid,))
