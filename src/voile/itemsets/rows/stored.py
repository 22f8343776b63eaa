"""Read the forms of a kit's or a release's columns back from plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from voile.itemsets.rows.forms import Binary, Categories, Form, Intervals, Items, LongItems, Words
from voile.itemsets.rows.ranges import Ranges

FORMS: Mapping[str, type[Form]] = {
    form.kind: form for form in (Binary, Categories, Intervals, Ranges, Words, Items, LongItems)
}
IN_A_RELEASE = (Intervals.kind, Ranges.kind)
"""Kinds whose cells a release writes as the names of intervals."""


def form_of(data: Mapping[str, Any]) -> Form:
    """Read a form of any kind."""
    return FORMS[data["kind"]].from_data({n: x for n, x in data.items() if n != "kind"})


def released_form(data: Mapping[str, Any]) -> Form:
    """Read the form of a released column, which shows intervals by their names."""
    if data["kind"] not in IN_A_RELEASE:
        return form_of(data)
    return Categories(data["column"], tuple(data["values"]))
