"""Convert the columns of a codec to plain arrays and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.nominal import ValueAssignment
from voile.signals.model.codec.steps import Arrays

Scale: TypeAlias = ValueLattice | ValueAssignment


def column_arrays(columns: Sequence[Scale]) -> Arrays:
    """Return columns as plain arrays, with keys of the form `column.NUMBER.PART`."""
    arrays: Arrays = {}
    for j, column in enumerate(columns):
        if isinstance(column, ValueLattice):
            arrays[f"column.{j}.lattice"] = np.array([column.step, column.per, column.offset])
        else:
            arrays[f"column.{j}.values"] = column.values
            arrays[f"column.{j}.sent"] = column.sent
    return arrays


def read_columns(arrays: Mapping[str, NDArray[Any]]) -> tuple[Scale, ...]:
    """Rebuild columns from the result of `column_arrays`."""
    columns: list[Scale] = []
    while any(key.startswith(f"column.{len(columns)}.") for key in arrays):
        key = f"column.{len(columns)}"
        if f"{key}.lattice" in arrays:
            columns.append(ValueLattice(*(int(part) for part in arrays[f"{key}.lattice"])))
        else:
            columns.append(ValueAssignment(arrays[f"{key}.values"], arrays[f"{key}.sent"]))
    return tuple(columns)
