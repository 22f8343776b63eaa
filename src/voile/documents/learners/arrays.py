"""Arrays in a kit's table: numbers and short names, never objects, so that reading runs nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import DamagedError

SCHEMA = pa.schema(
    [
        ("name", pa.string()),
        ("dtype", pa.string()),
        ("shape", pa.list_(pa.int64())),
        ("data", pa.large_binary()),
    ]
)
KINDS = "biufU"
"""NumPy's kinds that may be stored: truth values, whole numbers, floats and text."""
DTYPE = re.compile(rf"[<|][{KINDS}][1-9][0-9]{{0,5}}")


def to_table(arrays: Mapping[str, NDArray[Any]]) -> pa.Table:
    """Store arrays by name, little-endian, C order."""
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
    """Read arrays back.

    Raises
    ------
    DamagedError : an array of objects, one named twice, or one whose bytes are not as many as its
        shape says.
    """
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
