"""Relations among readings, removed before the class's map, with NumPy only.

Each class has its own map. Among decoded readings, a relation would therefore hold under the true
class only. A derived column is sent as its distance from the relation instead, in cells of its
lattice. One table serves all classes, so every class decodes a distance to a plausible one. The
table has a row for each last digit of the relation's position, or for each eighth of its cell.

Proof of exactness: the other columns are on their lattices. The relation's position g is then the
same whole number at client and server. So the position k of a derived column and the distance r = k
- g determine each other. A table assigns each r an interval of [0, 1]. Its width is the share of r
among people with the same row. A point of the rounding cell becomes a point of the interval. All
these maps are bijections.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.signals.model.codec.formula import ColumnFormula
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.scalar import Point, StepPath, at, place
from voile.signals.model.codec.steps import Arrays

DIGITS = 10
EIGHTHS = 8  # parts of a cell
WHOLE = 1 << 48  # sum of the widths in a table's row
FARTHEST = 2.0**50  # positions; a relation's value beyond it counts as 0
SPREAD = sqrt(12.0)  # width of a uniform law with standard deviation 1


@dataclass(frozen=True, eq=False)
class LiftedColumn(BriefRepr):
    """A derived column: its relation, and a table of the distances from it.

    formula : a formula of the numeric columns `x0`, `x1`, ... and the side columns `k0`, `k1`, ...
    widths : (rows, m) whole numbers above 0, with sum 2^48 in each row. They belong to the
        distances `first` to `first + m - 1`. Rows are the last digit of the relation's position (10
        rows), or the eighth of its cell (8 rows).
    """

    column: int
    formula: ColumnFormula
    first: int
    widths: NDArray[np.int64]
    mean: float = 0.0  # mean of the messages; `spread` is their standard deviation
    spread: float = 1.0

    def __post_init__(self) -> None:
        has_rows = self.widths.ndim == 2 and len(self.widths) in (DIGITS, EIGHTHS)
        sound = has_rows and (self.widths > 0).all()
        if not sound or (self.widths.sum(axis=1) != WHOLE).any() or not self.spread > 0:
            raise ValueError("the table of a derived column is none")

    @cached_property
    def _edges(self) -> Floats:
        """The boundaries of all intervals, (rows m + 1,). Those of row q begin at q."""
        before = np.cumsum(self.widths, axis=1) - self.widths
        starts = before / WHOLE + np.arange(len(self.widths))[:, None]
        return np.append(starts.ravel(), float(len(self.widths)))

    def forward(self, p: Floats, exact: Floats) -> Floats:
        """Return the messages, (n,), of positions in cells, given the relation's positions."""
        k, size = np.rint(p), self.widths.shape[1]
        g, row = find_rows(exact, len(self.widths))
        at = np.clip(k - g - self.first, 0, size - 1).astype(np.int64) + size * row
        start, end = self._edges[at], self._edges[at + 1]
        share = start + (p - k + 0.5) * (end - start) - row
        return np.asarray(self.mean + self.spread * SPREAD * (share - 0.5))

    def inverse(self, z: Floats, exact: Floats) -> Floats:
        """Return the positions of messages, in cells."""
        size = self.widths.shape[1]
        g, row = find_rows(exact, len(self.widths))
        share = row + np.clip((z - self.mean) / (self.spread * SPREAD) + 0.5, 0.0, 1.0)
        first = size * row
        at = np.clip(np.searchsorted(self._edges, share, side="right") - 1, first, first + size - 1)
        start, end = self._edges[at], self._edges[at + 1]
        k = g + self.first + (at - first)
        return np.asarray(k + np.clip((share - start) / (end - start), 0, 1) - 0.5)


@dataclass(frozen=True, eq=False)
class RelationLift(BriefRepr):
    """Transformations before the maps, common to all classes: relations and heaped last digits.

    lifted : the derived columns. A relation contains only columns that are not derived, or derived
        earlier.
    digits : (d, 10) whole numbers of sum 2^48, or all 0. They are the shares of the last digits in
        a column that people round. The cell of a heaped value is then as wide as the value is
        frequent.
    """

    lattices: tuple[ValueLattice, ...]
    lifted: tuple[LiftedColumn, ...]
    digits: NDArray[np.int64]

    def __post_init__(self) -> None:
        d = len(self.lattices)
        if self.digits.shape != (d, DIGITS) or not set(self.derived_columns) < set(range(d)):
            raise ValueError("relations do not fit the columns")
        sums = self.digits.sum(axis=1)
        if not np.isin(sums, (0, WHOLE)).all() or (self.digits[sums > 0] <= 0).any():
            raise ValueError("the widths of last digits are none")
        known = {f"x{j}" for j in self.base}
        for one in self.lifted:
            if any(name not in known for name in one.formula.names if name[0] == "x"):
                raise ValueError("a relation contains a column that is derived later")
            known.add(f"x{one.column}")

    @cached_property
    def derived_columns(self) -> list[int]:
        """The indices of the derived columns."""
        return [one.column for one in self.lifted]

    @cached_property
    def base(self) -> list[int]:
        """The indices of the columns that the class's map takes."""
        return [j for j in range(len(self.lattices)) if j not in self.derived_columns]

    def standardise_messages(self, mean: Floats, spread: Floats) -> RelationLift:
        """Return the lift with messages of these means and standard deviations, (d,)."""
        lifted = [
            replace(one, mean=float(mean[one.column]), spread=float(spread[one.column]))
            for one in self.lifted
        ]
        return replace(self, lifted=tuple(lifted))

    def reorder_columns(self, order: Sequence[int]) -> RelationLift:
        """Return the lift with reordered columns: position i has column order[i]."""
        names = {f"x{j}": f"x{place}" for place, j in enumerate(order)}
        lifted = []
        for one in self.lifted:
            side = {name: name for name in one.formula.names if name[0] == "k"}
            formula = one.formula.rename_columns(names | side)
            lifted.append(replace(one, column=list(order).index(one.column), formula=formula))
        lattices = tuple(self.lattices[j] for j in order)
        return RelationLift(lattices, tuple(lifted), self.digits[list(order)])

    def widen(self, column: int, v: Floats) -> Floats:
        """Return dithered readings of a base column, with heaped digits spread out."""
        lattice, widths = self.lattices[column], self.digits[column]
        return lattice.values(widen_digits(_place(lattice, v), widths)) if widths[0] else v

    def forward(self, V: Floats, known: Floats | None) -> Floats:
        """Map (d, n) dithered readings. `known` are (q, n) side columns, NaN where missing."""
        p = [_place(lattice, v) for lattice, v in zip(self.lattices, V, strict=True)]
        columns = self._columns(p, known)
        out = np.array(V, dtype=np.float64)
        for j in self.base:
            out[j] = self.widen(j, V[j])
        for one in self.lifted:
            out[one.column] = one.forward(p[one.column], self._expect_column(one, columns))
        return out

    def inverse(self, Z: Floats, known: Floats | None) -> Floats:
        """Invert `forward`."""
        p = [_place(lattice, z) for lattice, z in zip(self.lattices, Z, strict=True)]
        for j in self.base:
            if self.digits[j, 0]:
                p[j] = narrow_digits(p[j], self.digits[j])
        columns = self._columns(p, known)
        for one in self.lifted:
            j = one.column
            p[j] = one.inverse(Z[j], self._expect_column(one, columns))
            columns[f"x{j}"] = self.lattices[j].values(np.rint(p[j]))
        out = np.array(Z, dtype=np.float64)
        for j in range(len(p)):
            if j in self.derived_columns or self.digits[j, 0]:
                out[j] = self.lattices[j].values(p[j])
        return out

    def _columns(self, p: Sequence[Floats], known: Floats | None) -> dict[str, Floats]:
        """Return the lattice values and the side columns, by their names in formulas."""
        columns = {f"x{j}": one.values(np.rint(p[j])) for j, one in enumerate(self.lattices)}
        return columns | {f"k{j}": k for j, k in enumerate(() if known is None else known)}

    def _expect_column(self, one: LiftedColumn, columns: Mapping[str, Floats]) -> Floats:
        return expect_positions(one.formula, self.lattices[one.column], columns)

    def to_arrays(self) -> Arrays:
        arrays: Arrays = {"lift.digits": self.digits}
        for number, one in enumerate(self.lifted):
            key = f"lift.{number}"
            arrays[f"{key}.formula"] = np.array([one.formula.text])
            arrays[f"{key}.whole"] = np.array([one.column, one.first])
            arrays[f"{key}.widths"] = one.widths
            arrays[f"{key}.looks"] = np.array([one.mean, one.spread])
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], columns: Sequence[Any]
    ) -> RelationLift | None:
        """Rebuild the lift of a codec's columns, or return None if it has none."""
        if "lift.digits" not in arrays:
            return None
        lifted: list[LiftedColumn] = []
        while f"lift.{len(lifted)}.formula" in arrays:
            key = f"lift.{len(lifted)}"
            column, first = (int(one) for one in arrays[f"{key}.whole"])
            mean, spread = (float(one) for one in arrays[f"{key}.looks"])
            formula = ColumnFormula(str(arrays[f"{key}.formula"][0]))
            lifted.append(
                LiftedColumn(column, formula, first, arrays[f"{key}.widths"], mean, spread)
            )
        lattices = tuple(one for one in columns if isinstance(one, ValueLattice))
        return cls(lattices, tuple(lifted), arrays["lift.digits"])


class LiftedPath:
    """A lift and a class's path for one reading at a time, in plain Python.

    The bits are the same as from `RelationLift`.
    """

    def __init__(self, lift: RelationLift, known: Sequence[float], path: StepPath) -> None:
        self._lift, self._path, self._base = lift, path, lift.base
        self._known = {f"k{j}": value for j, value in enumerate(known)}
        self._heaped = [j for j in lift.base if lift.digits[j, 0]]
        self._names = [f"x{j}" for j in range(len(lift.lattices))]
        self._edges = [one._edges.tolist() for one in lift.lifted]

    def forward(self, v: Point) -> Point:
        lift = self._lift
        p = [place(lattice, x) for lattice, x in zip(lift.lattices, v, strict=True)]
        whole = [float(round(x)) for x in p]
        columns = self._columns(whole)
        out = self._warp_positions(list(v), p, widen_digits)
        for one, edges in zip(lift.lifted, self._edges, strict=True):
            j, size = one.column, one.widths.shape[1]
            g, row = self._expect_position(one, columns)
            at = int(min(max(whole[j] - g - one.first, 0), size - 1)) + size * row
            start, end = edges[at], edges[at + 1]
            share = start + (p[j] - whole[j] + 0.5) * (end - start) - row
            out[j] = one.mean + one.spread * SPREAD * (share - 0.5)
        return self._inner(out, self._path.forward)

    def inverse(self, v: Point) -> Point:
        lift, out = self._lift, self._inner(list(v), self._path.inverse)
        p = [place(lattice, x) for lattice, x in zip(lift.lattices, out, strict=True)]
        out = self._warp_positions(out, p, narrow_digits)
        p = [place(lattice, x) for lattice, x in zip(lift.lattices, out, strict=True)]
        columns = self._columns([float(round(x)) for x in p])
        for one, edges in zip(lift.lifted, self._edges, strict=True):
            j, size = one.column, one.widths.shape[1]
            g, row = self._expect_position(one, columns)
            first = size * row
            place_ = (v[j] - one.mean) / (one.spread * SPREAD) + 0.5
            share = row + min(max(place_, 0.0), 1.0)
            cell = min(max(bisect_right(edges, share) - 1, first), first + size - 1)
            start, end = edges[cell], edges[cell + 1]
            k = g + one.first + (cell - first)
            found = k + min(max((share - start) / (end - start), 0.0), 1.0) - 0.5
            out[j] = at(lift.lattices[j], found)
            columns[self._names[j]] = at(lift.lattices[j], float(round(found)))
        return out

    def _columns(self, whole: Sequence[float]) -> dict[str, float]:
        values = map(at, self._lift.lattices, whole)
        return {**dict(zip(self._names, values, strict=True)), **self._known}

    def _expect_position(
        self, one: LiftedColumn, columns: Mapping[str, float]
    ) -> tuple[float, int]:
        """Return the relation's position and the table row for one reading, like `find_rows`."""
        lattice, rows = self._lift.lattices[one.column], len(one.widths)
        try:
            exact = place(lattice, one.formula.evaluate_one(columns))
            g = float(round(exact))
        except (ArithmeticError, ValueError):  # NumPy returns a value where Python raises
            arrays = {name: np.array([value]) for name, value in columns.items()}
            exact = float(expect_positions(one.formula, lattice, arrays)[0])
            g = float(round(exact))
        if abs(g) >= FARTHEST:
            exact = g = 0.0
        if rows == DIGITS:
            return g, int(g % DIGITS)
        return g, min(max(int((exact - g + 0.5) * EIGHTHS), 0), EIGHTHS - 1)

    def _warp_positions(self, v: list[float], p: Sequence[float], way: Any) -> list[float]:
        for j in self._heaped:
            moved = way(np.array([p[j]]), self._lift.digits[j])
            v[j] = at(self._lift.lattices[j], float(moved[0]))
        return v

    def _inner(self, v: list[float], way: Any) -> list[float]:
        for j, x in zip(self._base, way([v[j] for j in self._base]), strict=True):
            v[j] = x
        return v


def expect_positions(
    formula: ColumnFormula, lattice: ValueLattice, columns: Mapping[str, Floats]
) -> Floats:
    """Return the relation's position on a column's lattice, or 0 where it has no value."""
    exact = _place(lattice, formula.evaluate(columns))
    return np.where(np.abs(np.rint(exact)) < FARTHEST, exact, 0.0)


def find_rows(exact: Floats, rows: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return relations' positions rounded to whole numbers, and their rows in a table."""
    g = np.rint(exact)
    if rows == DIGITS:
        return g, np.mod(g, DIGITS).astype(np.int64)
    eighth = np.floor((exact - g + 0.5) * EIGHTHS)
    return g, np.clip(eighth, 0, EIGHTHS - 1).astype(np.int64)


def widen_digits(p: Floats, widths: NDArray[np.int64]) -> Floats:
    """Move positions in cells so that the cell of each last digit has its width.

    Blocks of ten cells keep their boundaries.
    """
    starts, sizes = _digits(widths)
    k = np.rint(p)
    q = np.mod(k, DIGITS).astype(np.int64)
    return np.asarray(k - q + starts[q] + (p - k + 0.5) * sizes[q] - 0.5)


def narrow_digits(p: Floats, widths: NDArray[np.int64]) -> Floats:
    """Invert `widen_digits`."""
    starts, sizes = _digits(widths)
    block = np.floor((p + 0.5) / DIGITS) * DIGITS
    rest = p + 0.5 - block
    q = np.clip(np.searchsorted(starts, rest, side="right") - 1, 0, DIGITS - 1)
    return np.asarray(block + q + np.clip((rest - starts[q]) / sizes[q], 0, 1) - 0.5)


def _digits(widths: NDArray[np.int64]) -> tuple[Floats, Floats]:
    before = np.cumsum(widths) - widths
    return np.asarray(before * (DIGITS / WHOLE)), np.asarray(widths * (DIGITS / WHOLE))


def _place(lattice: ValueLattice, v: Floats) -> Floats:
    return np.asarray((v * lattice.per - lattice.offset) / lattice.step)
