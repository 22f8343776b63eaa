"""Describe the unreleased values found in a release, without importing the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from voile.gate.values.findings import ValueFinding
from voile.report.sections import Grid, Section

VALUES = "values"
"""The part of the private manifest with the columns and forms of the values that were found."""
LARGEST = 1_000_000_000
"""The largest size in bytes of a column that is searched.

A larger column is reported as skipped.
"""
NOT_SEARCHED = "columns_not_searched"
VALUES_FOUND = "values_found"
"""The number of people with their own unreleased values in the release, beyond chance."""


class ValuesWarning(UserWarning):
    """The release contains more unreleased values than chance explains. Correct their roles."""


def is_large(size: int) -> bool:
    """Return whether a column of this many bytes is too large to search."""
    return size > LARGEST


def detail_values(found: ValueFinding) -> dict[str, Any]:
    """Return the forms and the sentence of a finding, for the private manifest."""
    forms = [asdict(one) for one in found.forms]
    detail = {"name": found.name, "sentence": found.sentence, "forms": forms}
    return {**detail, "not_searched": found.not_searched}


def describe_values(private: Mapping[str, Any]) -> Section | None:
    """Return a report section with the unreleased values found, or None if nothing was searched.

    Parameters
    ----------
    private : the private manifest. The section is only for the data holder.
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
