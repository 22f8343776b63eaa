"""Side columns K, such as age and sex, on fixed grids of levels, with NumPy only.

A map that is conditional on them looks up integer tables at a reading's levels. Client and server
therefore get bit-identical results. Missing values have a level of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.signals.model.codec.lattice import OFF, ValueLattice
from voile.signals.model.codec.pieces import Codes
from voile.signals.model.codec.place import ReadingPlace


@dataclass(frozen=True, eq=False)
class SideLevels:
    """The levels of rows in each side column, all (columns, rows).

    A value is `share` parts of the column's `width` after the level `left`. A level without an
    order has share 0. `values` are the numbers themselves, for relations. They are NaN for missing
    numbers and for names.
    """

    left: NDArray[np.int64]
    share: NDArray[np.int64]
    values: NDArray[np.float64]

    def take(self, rows: Codes) -> SideLevels:
        return SideLevels(self.left[:, rows], self.share[:, rows], self.values[:, rows])

    def spread_rows(self, rows: Codes, n: int) -> SideLevels:
        """Return the levels of n rows: these levels at `rows`, and level 0 elsewhere."""
        left, share = (np.zeros((len(self.left), n), dtype=np.int64) for _ in range(2))
        left[:, rows], share[:, rows] = self.left, self.share
        values = np.full((len(left), n), np.nan)
        values[:, rows] = self.values
        return SideLevels(left, share, values)

    @classmethod
    def join_parts(cls, parts: Sequence[SideLevels], columns: int) -> SideLevels:
        none = np.zeros((columns, 0), dtype=np.int64)
        names = "left", "share", "values"
        every = ([none, *(getattr(one, name) for one in parts)] for name in names)
        return cls(*(np.concatenate(one, axis=1) for one in every))


@dataclass(frozen=True, eq=False)
class NumberGrid(BriefRepr):
    """A side column of numbers with evenly spaced nodes, between which tables are interpolated.

    Numbers beyond the grid use its end nodes. The level after the last node means missing.
    """

    lattice: ValueLattice
    first: int  # the first node, as a position on the lattice
    width: int  # positions between two nodes, >= 1
    nodes: int  # >= 1

    @property
    def levels(self) -> int:
        return self.nodes + 1

    def read_levels(self, column: NDArray[Any], where: ReadingPlace) -> tuple[NDArray[Any], ...]:
        values = _numbers(column, where)
        missing = np.isnan(values)
        there = np.where(missing, self.lattice.offset / self.lattice.per, values)
        positions = self.lattice.positions(there, where)
        on = np.clip(positions - self.first, 0, (self.nodes - 1) * self.width)
        left, share = np.divmod(on, self.width)
        exact = np.where(missing, np.nan, self.lattice.values(positions))
        return np.where(missing, self.nodes, left), np.where(missing, 0, share), exact

    def off(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each number is off the column's lattice. Missing numbers are not."""
        values = _numbers(column, ReadingPlace())
        there = ~np.isnan(values)
        near = self.lattice.nearest(np.where(there, values, 0.0))
        return there & (np.abs(near - values) > OFF * self.lattice.resolution)

    def strangers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each number is beyond the grid by more than its length.

        Such numbers suggest another unit, such as months for years.
        """
        values = _numbers(column, ReadingPlace())
        low, span = self.first, max(self.nodes - 1, 1) * self.width
        ends = self.lattice.values(np.array([low - span, low + 2 * span], dtype=np.float64))
        return np.asarray((values < ends[0]) | (values > ends[1]))

    def canonical(self, column: NDArray[Any]) -> list[bytes]:
        """Return the bytes of each cell for a MAC: its lattice position, or its text."""
        found = []
        for cell in column:
            try:
                value = np.array([0.0 if is_missing(cell) else float(cell)])
                place = int(self.lattice.positions(value, ReadingPlace())[0])
                found.append(b"" if is_missing(cell) else f"number {place}".encode())
            except (TypeError, ValueError, RequestError):
                found.append(f"text {cell}".encode())
        return found

    def to_array(self) -> NDArray[Any]:
        lattice = self.lattice
        return np.array(
            [lattice.step, lattice.per, lattice.offset, self.first, self.width, self.nodes]
        )


@dataclass(frozen=True, eq=False)
class NameLevels(BriefRepr):
    """A side column of names: one level for each, one for rare or unseen names, one for missing."""

    values: NDArray[np.str_]  # (m,) sorted
    width: int = 1

    @property
    def levels(self) -> int:
        return len(self.values) + 2

    def read_levels(self, column: NDArray[Any], where: ReadingPlace) -> tuple[NDArray[Any], ...]:
        m = len(self.values)
        missing = np.array([is_missing(one) for one in column], dtype=np.bool_)
        names = np.where(missing, "", column).astype(str)
        at = np.searchsorted(self.values, names)
        at[at == m] = 0
        seen = self.values[at] == names if m else np.zeros(len(names), dtype=np.bool_)
        level = np.where(missing, m + 1, np.where(seen, at, m)).astype(np.int64)
        return level, np.zeros_like(level), np.full(len(level), np.nan)

    def strangers(self, column: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each name has no level of its own."""
        return np.asarray(self.read_levels(column, ReadingPlace())[0] == len(self.values))

    def canonical(self, column: NDArray[Any]) -> list[bytes]:
        return [b"" if is_missing(cell) else f"text {cell}".encode() for cell in column]

    def to_array(self) -> NDArray[Any]:
        return self.values


SideColumn: TypeAlias = NumberGrid | NameLevels


def read_levels(
    known: ArrayLike | SideLevels | None, columns: Sequence[SideColumn], n: int, first: int = 0
) -> SideLevels:
    """Return the levels of n rows of side columns.

    Parameters
    ----------
    known : (n, q), or (n,) for one column: numbers and names as the map was fitted to. None, NaN
        and blank text are missing.
    columns : the side columns of the map.
    n : number of rows.
    first : number of the first side column in the places of errors, after the reading columns.

    Raises
    ------
    RequestError : the number of columns or rows differs, or a value does not fit its column.
    """
    if isinstance(known, SideLevels):
        return known
    table = side_table(known, n)
    if table.shape[1] != len(columns):
        given = table.shape[1] or "none"
        raise RequestError(
            f"the map takes {len(columns) or 'no'} side columns, and {given} are given",
            where="known",
            instead="give the columns that the map was fitted with, in their order",
        )
    parts = [one.read_levels(table[:, j], ReadingPlace(first + j)) for j, one in enumerate(columns)]
    left, share, values = zip(*parts, strict=True) if parts else ((), (), ())
    shape = (len(columns), n)
    return SideLevels(
        np.array(left, dtype=np.int64).reshape(shape),
        np.array(share, dtype=np.int64).reshape(shape),
        np.array(values, dtype=np.float64).reshape(shape),
    )


def side_table(known: ArrayLike | None, n: int) -> NDArray[Any]:
    """Return side columns as an array of objects, (n, q)."""
    table = np.empty((n, 0), dtype=object) if known is None else np.asarray(known, dtype=object)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != n:
        raise RequestError(f"there are {n} readings and {len(table)} rows of side columns")
    return table


def is_missing(value: object) -> bool:
    """Return whether a cell of a side column is empty.

    >>> [is_missing(one) for one in (None, float("nan"), " ", 0, "no")]
    [True, True, True, False, False]
    """
    if value is None or (isinstance(value, float) and value != value):
        return True
    return isinstance(value, str) and not value.strip()


def _numbers(column: NDArray[Any], where: ReadingPlace) -> NDArray[np.float64]:
    try:
        values = np.array([np.nan if is_missing(one) else float(one) for one in column])
    except (TypeError, ValueError):
        remedy = "give numbers, or fit with the column as names"
        what = "a side column of numbers holds text"
        raise RequestError(what, where=where, instead=remedy) from None
    if np.isinf(values).any():
        row = int(np.isinf(values).argmax())
        raise RequestError("a side column is infinite", where=where.at(row))
    return values.astype(np.float64)


def side_features(columns: Sequence[SideColumn], levels: SideLevels) -> NDArray[np.float64]:
    """Return side columns as numbers of equal spread, (n, features).

    Names are one-hot encoded, and missing values have columns of their own.
    """
    found = [_missing(columns, levels)]
    for column, left, share in zip(columns, levels.left, levels.share, strict=True):
        if isinstance(column, NumberGrid):
            there = left < column.nodes
            found.append(np.where(there, left + share / column.width, 0.0)[:, None])
        else:
            found.append((left[:, None] == np.arange(column.levels - 1)).astype(np.float64))
    return _even(np.concatenate(found, axis=1))


def missing_features(
    columns: Sequence[SideColumn], levels: SideLevels
) -> NDArray[np.float64] | None:
    """Return scaled indicators of missing side columns, or None if no value is missing."""
    found = _missing(columns, levels)
    return _even(found) if found.any() else None


def _missing(columns: Sequence[SideColumn], levels: SideLevels) -> NDArray[np.float64]:
    last = np.array([one.levels - 1 for one in columns])
    return np.asarray((last == levels.left.T).astype(np.float64))


def _even(table: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = table.std(axis=0)
    jitter = np.random.default_rng(1).normal(0, 1e-9, table.shape)  # breaks ties between equal rows
    return np.asarray(table / np.where(spread > 0, spread, 1) + jitter)


def side_arrays(columns: Sequence[SideColumn]) -> dict[str, NDArray[Any]]:
    kinds = {NumberGrid: "grid", NameLevels: "names"}
    return {f"side.{j}.{kinds[type(one)]}": one.to_array() for j, one in enumerate(columns)}


def read_side(arrays: Mapping[str, NDArray[Any]]) -> tuple[SideColumn, ...]:
    columns: list[SideColumn] = []
    while any(key.startswith(f"side.{len(columns)}.") for key in arrays):
        key = f"side.{len(columns)}"
        if f"{key}.grid" in arrays:
            step, per, offset, first, width, nodes = (int(one) for one in arrays[f"{key}.grid"])
            columns.append(NumberGrid(ValueLattice(step, per, offset), first, width, nodes))
        else:
            columns.append(NameLevels(arrays[f"{key}.names"]))
    return tuple(columns)
