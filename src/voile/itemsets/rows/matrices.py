"""Convert data frames of 0 and 1 to sparse matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError
from voile.data import open_source
from voile.itemsets.rows.forms import BinaryForm

if TYPE_CHECKING:
    from scipy import sparse

Nulls: TypeAlias = Literal["refuse", "absent"]
"""The treatment of a missing value among zeros and ones: an error, or a 0."""


def frame_matrix(
    frame: Any, *, binarize: float | None = None, nulls: Nulls = "refuse"
) -> tuple[sparse.csc_array, tuple[str, ...]]:
    """Return a data frame of 0 and 1, or booleans, as a sparse matrix with its column names.

    binarize : numbers above this value are 1, and others 0.
    nulls : "refuse" to raise an error for a missing value, "absent" to read it as 0.
    """
    from scipy import sparse

    if hasattr(frame, "collect"):
        raise RequestError("a lazy frame has no rows yet", instead="collect it first")
    if hasattr(frame, "dtypes") and all(str(t).startswith("Sparse") for t in frame.dtypes):
        matrix = sparse.csc_array(frame.sparse.to_coo())
        return find_ones(matrix, binarize, nulls), tuple(map(str, frame.columns))
    source = open_source(frame)
    names = tuple(source.columns)
    table = pa.Table.from_batches(source.batches(), source.schema()).combine_chunks()
    holders = [_holders(name, table.column(name), binarize, nulls) for name in names]
    starts = np.cumsum([0, *map(len, holders)])
    row = np.concatenate([np.zeros(0, dtype=np.int64), *holders])
    ones = np.ones(len(row), dtype=np.int8)
    return sparse.csc_array((ones, row, starts), shape=(len(table), len(names))), names


def find_ones(X: Any, binarize: float | None, nulls: Nulls) -> Any:
    """Return a matrix of 1 for the numbers above `binarize`, with missing values as 0 on request.

    Without `binarize`, the numbers stay the same. Raises RequestError for a negative threshold and
    a sparse matrix, because it would fill the matrix with ones.
    """
    is_sparse = hasattr(X, "nnz")
    if nulls == "absent" and hasattr(X, "fillna"):
        X = X.fillna(0)
    elif nulls == "absent" and (X.data if is_sparse else X).dtype.kind == "f":
        X = X.copy()
        values = X.data if is_sparse else X
        values[np.isnan(values)] = 0
    if binarize is None:
        return X
    if is_sparse and binarize < 0:
        raise RequestError(
            "a sparse matrix is not cut below 0", instead="give binarize=0 or more, or an array"
        )
    return (binarize < X).astype(getattr(X, "dtype", np.int8))


def _holders(
    name: str, column: pa.ChunkedArray, binarize: float | None, nulls: Nulls
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the rows in which a column is 1. Raise RequestError for values other than 0 and 1."""
    type_, types = column.type, pa.types
    array = column.combine_chunks()
    if binarize is not None and (types.is_integer(type_) or types.is_floating(type_)):
        array = pc.greater(array, binarize)
    known = (types.is_string, types.is_integer, types.is_floating, types.is_boolean)
    if any(test(type_) for test in known):
        cells = BinaryForm(name, ("",), nulls == "absent").cells(array)
        row, lost = cells.row, np.flatnonzero(cells.lost)
    else:
        row, lost = np.zeros(0, dtype=np.int64), np.arange(len(array))
    if len(lost):
        cells_are = "1 value is" if len(lost) == 1 else f"{len(lost):,} values are"
        raise RequestError(
            f"{cells_are} neither 0 nor 1",
            where=f"row {lost[0]}, column {name}",
            instead="binarize the column, leave it out, or give nulls='absent' if a missing "
            "value is a 0",
        )
    return row
