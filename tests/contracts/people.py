"""The common part of all test tables: people, and unreleased columns that contain canaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

CANARIES = ("CANARYPERSON", "CANARYNAME", "CANARYNOTE")
ROLES = {
    "person": "identifier",
    "name": "identifier",
    "ward": "keep",
    "weight": "keep",
    "note": "text",
}


def names(of: Sequence[int]) -> list[str]:
    """Return what people of these numbers are called."""
    return [f"CANARYPERSON{i:04d}" for i in of]


def table_of(person: Sequence[str | None], columns: Mapping[str, pa.Array]) -> pa.Table:
    """Return rows of these people: the wing's columns, among those that every kind has."""
    n = len(person)
    return pa.table(
        {
            "person": pa.array(person, pa.string()),
            "name": pa.array([f"CANARYNAME{i:04d}" for i in range(n)]),
            **columns,
            "ward": pa.array([("north", "south")[i % 2] for i in range(n)]),
            "weight": pa.array([60.0 + i % 30 for i in range(n)]),
            "note": pa.array([f"seen CANARYNOTE{i:04d} at home" for i in range(n)]),
        }
    )


def put(whole: pa.Table, name: str, column: pa.Array) -> pa.Table:
    """Return the table with another column in the place of one."""
    return whole.set_column(whole.column_names.index(name), name, column)
