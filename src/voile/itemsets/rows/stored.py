"""Restore the forms of the columns of a kit or a release from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.itemsets.rows.forms import (
    BinaryForm,
    CategoriesForm,
    ColumnForm,
    IntervalsForm,
    ItemsForm,
    LongItems,
    WordsForm,
)
from voile.itemsets.rows.ranges import RangesForm

FORMS: Mapping[str, type[ColumnForm]] = {
    form.kind: form
    for form in (
        BinaryForm,
        CategoriesForm,
        IntervalsForm,
        RangesForm,
        WordsForm,
        ItemsForm,
        LongItems,
    )
}
IN_A_RELEASE = (IntervalsForm.kind, RangesForm.kind)
"""The kinds of columns that a release contains as names of intervals."""


def form_of(data: Mapping[str, Any]) -> ColumnForm:
    """Return a form of any kind from plain data."""
    return FORMS[data["kind"]].from_data({n: x for n, x in data.items() if n != "kind"})


def released_form(data: Mapping[str, Any]) -> ColumnForm:
    """Return the form of a released column, in which intervals are written by name."""
    if data["kind"] not in IN_A_RELEASE:
        return form_of(data)
    return CategoriesForm(data["column"], tuple(data["values"]))
