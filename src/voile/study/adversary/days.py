"""Columns of days: dates, timestamps, and text dates, as in CSV and JSON lines."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.data import Source
from voile.data.forms import DATES, read_as

SAMPLE = 1000
"""The number of first cells that decide whether a text column contains dates."""
SOME, MOST = 0.1, 0.5
"""Limits on the share of dates in a text column.

A column with more than SOME of them contains days. They can be moved if more than MOST of the cells
are dates. One of 27 numbers with eight digits is a date by chance.
"""
ISO_DAY = r"^\d{4}-\d{2}-\d{2}$"


def is_day(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def day_columns(source: Source, names: Iterable[str]) -> list[str]:
    """Return the columns that contain days. Some of the first cells decide for text columns."""
    return [name for name in names if name in source.columns and _holds_days(source, name)]


def can_be_moved(source: Source, name: str) -> bool:
    """Return whether most first cells of a text column are days written as 2013-07-01."""
    if is_day(source.columns[name]):
        return True
    iso = pc.match_substring_regex(_first(source, name), ISO_DAY)
    return not len(iso) or iso.true_count > MOST * len(iso)


def as_days(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as dates. Text that is not a date becomes null."""
    if is_day(column.type):
        return column.cast(pa.date32(), safe=False)
    days = np.array([_day(x) for x in column.to_pylist()], "datetime64[D]")
    return pa.chunked_array([pa.array(days, pa.date32())])


def _holds_days(source: Source, name: str) -> bool:
    kind = source.columns[name]
    if not pa.types.is_string(kind):
        return is_day(kind)
    cells = [one.strip() for one in _first(source, name).to_pylist()]
    dated = sum(any(read_as("date", one, form) is not None for form in DATES) for one in cells)
    return dated > SOME * len(cells)


def _first(source: Source, name: str) -> pa.Array:
    """Return the first cells of a column that are neither null nor blank."""
    cells = (one for batch in source.batches([name]) for one in batch.column(0).to_pylist())
    return pa.array(islice((one for one in cells if one and one.strip()), SAMPLE), pa.string())


def _day(text: Any) -> np.datetime64:
    try:
        return np.datetime64(str(text)[:10], "D")
    except ValueError:
        return np.datetime64("NaT")
