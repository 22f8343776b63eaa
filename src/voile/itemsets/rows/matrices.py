"""Matrices of data frames whose columns hold 0 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import open_source
from voile.itemsets.rows.forms import Binary

if TYPE_CHECKING:
    from scipy import sparse


def frame_matrix(frame: Any) -> tuple[sparse.csc_array, tuple[str, ...]]:
    """Return the ones of a data frame of 0 and 1, or booleans, and its columns' names."""
    from scipy import sparse

    if hasattr(frame, "collect"):
        raise RequestError("a lazy frame has no rows yet", instead="collect it first")
    if hasattr(frame, "dtypes") and all(str(t).startswith("Sparse") for t in frame.dtypes):
        return sparse.csc_array(frame.sparse.to_coo()), tuple(map(str, frame.columns))
    source = open_source(frame)
    names = tuple(source.columns)
    table = pa.Table.from_batches(source.batches(), source.schema()).combine_chunks()
    holders = [_holders(name, table.column(name)) for name in names]
    starts = np.cumsum([0, *map(len, holders)])
    row = np.concatenate([np.zeros(0, dtype=np.int64), *holders])
    ones = np.ones(len(row), dtype=np.int8)
    return sparse.csc_array((ones, row, starts), shape=(len(table), len(names))), names


def _holders(name: str, column: pa.ChunkedArray) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the rows that have a column's item, or refuse what is neither 0 nor 1."""
    type_, types = column.type, pa.types
    array = column.combine_chunks()
    known = (types.is_string, types.is_integer, types.is_floating, types.is_boolean)
    if any(test(type_) for test in known):
        cells = Binary(name, ("",)).cells(array)
        row, lost = cells.row, np.flatnonzero(cells.lost)
    else:
        row, lost = np.zeros(0, dtype=np.int64), np.arange(len(array))
    if len(lost):
        cells_are = "1 value is" if len(lost) == 1 else f"{len(lost):,} values are"
        raise RequestError(
            f"{cells_are} neither 0 nor 1",
            where=f"row {lost[0]}, column {name}",
            instead="binarise the column, or leave it out",
        )
    return row
