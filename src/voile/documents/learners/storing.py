"""Classifiers as arrays of numbers, and back; what does not fit together is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.learners.learner import Arrays

Weights = NDArray[np.float32]

MOST_COLUMNS = 2**31 - 1


def packed(weights: Weights) -> dict[str, NDArray[Any]]:
    """Return a classifier's weights, (columns, outputs), without the rows that are all 0."""
    rows = np.flatnonzero(weights.any(axis=1)).astype(np.int32)
    return {"size": np.array(len(weights)), "rows": rows, "weights": weights[rows]}


def unpacked(arrays: Arrays, outputs: int) -> Weights:
    """Return the weights that `packed` made arrays of."""
    size = int(taken(arrays, "size", "iu", ()))
    rows = taken(arrays, "rows", "i", (None,))
    values = taken(arrays, "weights", "f", (len(rows), outputs))
    if size > MOST_COLUMNS or (np.diff(rows, prepend=-1, append=size) < 1).any():
        raise unfit("rows")
    weights = np.zeros((size, outputs), np.float32)
    weights[rows] = values
    return weights


def taken(arrays: Arrays, name: str, kinds: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return one array, or refuse it.

    Parameters
    ----------
    kinds : numpy's letters of the kinds of numbers it may hold.
    shape : None where any length is right.
    """
    array = arrays.get(name)
    if array is None or array.dtype.kind not in kinds or array.ndim != len(shape):
        raise unfit(name)
    if any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        raise unfit(name)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise unfit(name)
    return array


def unfit(name: str) -> RequestError:
    """Say that an array is not a classifier's."""
    return RequestError(
        f"the array {name!r} is missing or not of this kind of classifier",
        instead="use the kit as it was written",
    )
