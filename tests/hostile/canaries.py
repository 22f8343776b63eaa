"""Sources in which every value is a canary, and where one of them could have gone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa

NUMBER = 987_000
WORD = "CANARY"
NEAR = re.compile(r"987[0-2]\d\d")
FLAGS = ({"0"}, {"1"}, {"0", "1"})


def all_canaries(table: pa.Table, *, spare: tuple[str, ...] = ()) -> pa.Table:
    """Return a table in which each text begins with `CANARY` and each number is near 987,000.

    Zeros and ones that stand for no and yes stay, and so do the columns to `spare`.
    """
    for place, name in enumerate(table.column_names):
        if name not in spare:
            table = table.set_column(place, name, _canary(table[name]))
    return table


def _canary(column: pa.ChunkedArray) -> pa.Array:
    cells = column.to_pylist()
    known = {str(cell) for cell in cells if cell is not None}
    if known in FLAGS:
        return column.combine_chunks()
    if pa.types.is_string(column.type):
        return pa.array([None if c is None else f"{WORD}{c}" for c in cells], pa.string())
    return pa.array([None if c is None else c + NUMBER for c in cells], column.type)


def told(text: str) -> bool:
    """Say whether a text holds a canary."""
    return WORD in text.upper() or bool(NEAR.search(text))


def encoded(value: Any) -> set[bytes]:
    """Return the ways in which a file could hold a value."""
    if isinstance(value, str):
        return {value.encode(), value.encode("utf-16-le"), value.encode("utf-16-be")}
    numbers = {np.array(value, dtype=kind).tobytes() for kind in ("<i4", "<i8", "<f8")}
    return {str(value).encode(), *numbers}
