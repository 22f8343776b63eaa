"""Use a matrix in memory as a source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from voile import data
from voile.core.errors import RequestError
from voile.data import Source
from voile.data.formats.baskets import BASKETS, holds_baskets
from voile.data.source import TableSource
from voile.itemsets.rows.incidence import Incidence

ITEMS, LABEL, SUBJECT = "items", "label", "subject"


def open_source(thing: object, *, table: str | None = None, encoding: str | None = None) -> Source:
    """Open any input of `voile.data.open_source`, a matrix of zeros and ones, or a file of baskets.

    The only column of a matrix contains lists of feature names, and is called ``items``. A text
    file with different numbers of fields in its lines is read as baskets, one in each line.
    """
    from scipy import sparse

    plain = isinstance(thing, np.ndarray) and thing.ndim == 2
    if plain or sparse.issparse(thing):
        return matrix_source(thing)
    if table is None and _may_hold_baskets(thing) and holds_baskets(Path(thing)):
        table = BASKETS
    return data.open_source(thing, table=table, encoding=encoding)


def _may_hold_baskets(thing: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether `thing` is the path of a local delimited text file."""
    if not isinstance(thing, str | os.PathLike):
        return False
    is_text = os.fspath(thing).lower().removesuffix(".gz").endswith((".csv", ".tsv", ".txt"))
    return is_text and os.path.isfile(thing)


def matrix_source(
    X: Any,
    features: Sequence[str] | None = None,
    *,
    labels: ArrayLike | None = None,
    subjects: ArrayLike | None = None,
) -> Source:
    """Return a matrix of 0 and 1 as a source with the columns `items`, `label` and `subject`.

    Parameters
    ----------
    X, features : input of `Incidence.of`.
    labels, subjects : (rows,) values of each row. If None, the column is left out.

    Raises
    ------
    RequestError : an error of `Incidence.of`, or another number of labels or subjects than rows.

    >>> source = matrix_source(np.array([[1, 0], [1, 1]]), ["tea", "milk"], labels=["a", "b"])
    >>> [batch.to_pylist() for batch in source.batches()]
    [[{'items': ['tea'], 'label': 'a'}, {'items': ['tea', 'milk'], 'label': 'b'}]]
    """
    rows = Incidence.of(X, features)
    names = pa.array(rows.features, pa.string())
    starts = pa.array(rows.starts, pa.int32())
    patterns = pa.ListArray.from_arrays(starts, names.take(pa.array(rows.items)))
    columns = {ITEMS: patterns.take(pa.array(rows.pattern))}
    for name, values in ((LABEL, labels), (SUBJECT, subjects)):
        if values is not None:
            columns[name] = pa.array(values, from_pandas=True)
            if len(columns[name]) != rows.n_rows:
                raise RequestError(f"{len(columns[name])} {name}s for {rows.n_rows} rows")
    return TableSource(pa.table(columns), "matrix", "matrix")
