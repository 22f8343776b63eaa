"""The elementary steps for one reading at a time: plain Python, for a session.

A call of NumPy costs more than all the arithmetic that one reading needs. What is here computes
what `codec/steps.py` computes, in Python's own floats: the same operations in the same order on
every machine, and so the same bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

from voile.signals.codec.pieces import Floats
from voile.signals.codec.steps import Affine, Bend, KnotheRosenblatt, Step

Point: TypeAlias = Sequence[float]
SparseRows: TypeAlias = list[list[tuple[int, float]]]  # of a matrix: column and weight of each term
Tables: TypeAlias = list[tuple[float, float, float, float, float]]


class Line:
    """A function of straight pieces; its end pieces go on for ever. See `pieces.Pieces`."""

    __slots__ = ("inner", "pieces")

    def __init__(self, x: Floats, y: Floats) -> None:
        self.inner: list[float] = x[1:-1].tolist()
        self.pieces: list[tuple[float, float, float]] = list(zip(*_pieces(x, y), strict=True))

    def __call__(self, v: float) -> float:
        x, y, slope = self.pieces[bisect_right(self.inner, v)]
        return y + slope * (v - x)


def _pieces(x: Floats, y: Floats) -> tuple[list[float], list[float], list[float]]:
    """Return where each piece begins, its value there, and its slope."""
    return x[:-1].tolist(), y[:-1].tolist(), ((y[1:] - y[:-1]) / (x[1:] - x[:-1])).tolist()


class Path:
    """Some steps in a row, forth and back: O(log g) a curve."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._parts = [_part(step) for step in steps]

    def forward(self, v: Point) -> Point:
        for part in self._parts:
            v = part.forward(v)
        return v

    def inverse(self, v: Point) -> Point:
        for part in reversed(self._parts):
            v = part.inverse(v)
        return v


class _Affine:
    def __init__(self, step: Affine) -> None:
        self.shift = step.shift.tolist()
        self.there = terms(step.matrix)
        self.back = terms(step.turned().matrix)

    def forward(self, v: Point) -> Point:
        return [x + b for x, b in zip(times(self.there, v), self.shift, strict=True)]

    def inverse(self, v: Point) -> Point:
        return times(self.back, [x - b for x, b in zip(v, self.shift, strict=True)])


def terms(matrix: Floats) -> SparseRows:
    """Return the terms of each row that are not 0."""
    return [[(i, w) for i, w in enumerate(row) if w] for row in matrix.tolist()]


def times(rows: SparseRows, v: Point) -> list[float]:
    """Multiply term by term: `sum` rounds otherwise from one Python to the next."""
    out = []
    for row in rows:
        total = 0.0
        for i, w in row:
            total += w * v[i]
        out.append(total)
    return out


class _Bend:
    def __init__(self, step: Bend) -> None:
        self.there = [Line(curve.x, curve.y) for curve in step.curves]
        self.back = [Line(curve.y, curve.x) for curve in step.curves]

    def forward(self, v: Point) -> Point:
        return [line(x) for line, x in zip(self.there, v, strict=True)]

    def inverse(self, v: Point) -> Point:
        return [line(x) for line, x in zip(self.back, v, strict=True)]


class Triangular:
    """A Knothe-Rosenblatt map; also of its later columns alone, the first ones being known."""

    def __init__(self, step: KnotheRosenblatt) -> None:
        order = [int(j) for j in step.order]
        self.low, self.high = float(step.grid[0]), float(step.grid[-1])
        self.inner: list[float] = step.grid[1:-1].tolist()
        self.parts = [
            (
                j,
                [(i, _tables(step, j, i)) for i in order[:place]],
                Line(step.grid, step.curve[j]),
                Line(step.curve[j], step.grid),
            )
            for place, j in enumerate(order)
        ]

    def forward(self, v: Point, known: Point = ()) -> list[float]:
        """Return z of v; `known` are the z of the columns that come first, if they are."""
        z = [*known, *([0.0] * (len(v) - len(known)))]
        for j, tables, there, _ in self.parts[len(known) : len(v)]:
            shift, scale = self._held(z, tables)
            z[j] = there((v[j] - shift) * scale)
        return z

    def inverse(self, z: Point, first: int = 0) -> list[float]:
        """Return v of z, from column `first` on."""
        x = [0.0] * len(z)
        for j, tables, _, back in self.parts[first:]:
            shift, scale = self._held(z, tables)
            x[j] = back(z[j]) / scale + shift
        return x

    def _held(self, z: Point, tables: list[tuple[int, Tables]]) -> tuple[float, float]:
        shift, scale = 0.0, 1.0
        for i, rows in tables:
            held = z[i]
            if not self.low <= held <= self.high:
                held = self.low if held < self.low else self.high
            x, mean, mean_slope, spread, spread_slope = rows[bisect_right(self.inner, held)]
            run = held - x
            shift += mean + mean_slope * run
            scale *= spread + spread_slope * run
        return shift, scale


def _tables(step: KnotheRosenblatt, j: int, i: int) -> Tables:
    """Return per piece where it begins, conditional mean and slope, one over spread and slope."""
    mean, spread = _pieces(step.grid, step.mean[j, i]), _pieces(step.grid, step.scale[j, i])
    return list(zip(*mean, *spread[1:], strict=True))


def _part(step: Step) -> _Affine | _Bend | Triangular:
    if isinstance(step, Affine):
        return _Affine(step)
    if isinstance(step, Bend):
        return _Bend(step)
    if isinstance(step, KnotheRosenblatt):
        return Triangular(step)
    raise TypeError(f"no step {step.kind!r}")
