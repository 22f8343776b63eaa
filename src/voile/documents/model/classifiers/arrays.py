"""Store classifiers as arrays of numbers, and arrays as a kit's table.

Reading them runs no code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import DamagedError, RequestError
from voile.documents.model.classifiers.classifier import Arrays

Weights = NDArray[np.float32]

MOST_COLUMNS = 2**31 - 1


def pack(weights: Weights) -> dict[str, NDArray[Any]]:
    """Return a classifier's weights, (columns, outputs), without the rows of zeros."""
    rows = np.flatnonzero(weights.any(axis=1)).astype(np.int32)
    return {"size": np.array(len(weights)), "rows": rows, "weights": weights[rows]}


def unpack(arrays: Arrays, outputs: int) -> Weights:
    size = int(take(arrays, "size", "iu", ()))
    rows = take(arrays, "rows", "i", (None,))
    values = take(arrays, "weights", "f", (len(rows), outputs))
    if size > MOST_COLUMNS or (np.diff(rows, prepend=-1, append=size) < 1).any():
        raise misfit("rows")
    weights = np.zeros((size, outputs), np.float32)
    weights[rows] = values
    return weights


def take(arrays: Arrays, name: str, kinds: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
    """Return an array with one of these NumPy kinds and this shape; refuse any other.

    None in the shape matches any length. Numbers must be finite.
    """
    array = arrays.get(name)
    if array is None or array.dtype.kind not in kinds or array.ndim != len(shape):
        raise misfit(name)
    if any(want not in (None, got) for want, got in zip(shape, array.shape, strict=True)):
        raise misfit(name)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise misfit(name)
    return array


def misfit(name: str) -> RequestError:
    return RequestError(
        f"the array {name!r} is missing or not of this kind of classifier",
        instead="use the kit as it was written",
    )


SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("dtype", pa.string()),
        ("shape", pa.list_(pa.int64())),
        ("data", pa.large_binary()),
    ]
)
KINDS = "biufU"
"""The NumPy kinds that may be stored: booleans, integers, floats and text."""
DTYPE = re.compile(rf"[<|][{KINDS}][1-9][0-9]{{0,5}}")


def to_table(arrays: Mapping[str, NDArray[Any]]) -> pa.Table:
    """Store arrays by name, little-endian, in C order."""
    rows = []
    for name, array in arrays.items():
        if array.dtype.kind not in KINDS:
            raise TypeError(f"{name} is an array of {array.dtype}, which kits do not hold")
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        rows.append(
            {
                "name": name,
                "dtype": plain.dtype.str,
                "shape": list(array.shape),
                "data": plain.tobytes(),
            }
        )
    return pa.Table.from_pylist(rows, SCHEMA)


def from_table(table: pa.Table) -> dict[str, NDArray[Any]]:
    """Read the arrays of a table."""
    found: dict[str, NDArray[Any]] = {}
    for row in table.to_pylist():
        try:
            name, shape = row["name"], row["shape"]
            if not isinstance(name, str) or name in found or not DTYPE.fullmatch(row["dtype"]):
                raise ValueError
            if any(length < 0 for length in shape):
                raise ValueError
            found[name] = np.frombuffer(row["data"], np.dtype(row["dtype"])).reshape(shape)
        except (AttributeError, OverflowError, TypeError, ValueError):
            raise DamagedError("the kit's arrays are not whole") from None
    return found
