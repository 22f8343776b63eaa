"""Convert the caller's readings, classes and subjects to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.signals.model.codec.place import CLASSES


def as_table(X: ArrayLike, columns: int | None = None, *, mixed: bool = False) -> NDArray[Any]:
    """Return readings as (n, d): float64, or objects if a column is nominal."""
    table = np.asarray(X)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2:
        raise RequestError("readings must be in rows and columns", where="X")
    if columns is not None and table.shape[1] != columns:
        raise RequestError(
            f"there are {table.shape[1]} columns where the map has {columns}", where="X"
        )
    if mixed or table.dtype.kind in "OUS":
        return table.astype(object)
    if table.dtype.kind == "f" and table.dtype.itemsize < 8:
        # 70.1 as float32 is 70.0999985 as float64; its shortest text is 70.1
        return table.astype(str).astype(np.float64)
    return table.astype(np.float64)


def as_labels(c: NDArray[Any]) -> NDArray[Any]:
    """Return classes as whole numbers or strings. Strings stored as objects become strings."""
    if c.dtype.kind in "iubUS":
        return c
    if c.dtype.kind == "O" and all(isinstance(label, str) for label in c):
        return c.astype(str)
    remedy = "use strings or whole numbers, with none missing"
    raise RequestError("a class is neither text nor a whole number", where=CLASSES, instead=remedy)


def as_subjects(subjects: ArrayLike | None, n: int) -> NDArray[np.intp]:
    """Number the subjects of n readings from 0. With None, each reading has its own subject."""
    if subjects is None:
        return np.arange(n)
    return np.unique(as_given(subjects, n), return_inverse=True)[1]


def as_given(subjects: ArrayLike, n: int) -> NDArray[Any]:
    given = np.asarray(subjects)
    if given.shape != (n,):
        raise RequestError(f"there are {n} readings and {given.size} subjects")
    return given
