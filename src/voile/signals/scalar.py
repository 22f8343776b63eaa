"""The elementary steps for one reading at a time: plain Python, for a session.

A call of NumPy costs more than all the arithmetic that one reading needs. What is here computes
what `steps.py` computes, in Python's own floats: the same operations in the same order on every
machine, and so the same bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TypeAlias

from voile.signals.pieces import Floats
from voile.signals.steps import Affine, Bend, KnotheRosenblatt, Step

Point: TypeAlias = Sequence[float]


class Line:
    """A function of straight pieces; its end pieces go on for ever. See `pieces.Pieces`."""

    __slots__ = ("inner", "slope", "x", "y")

    def __init__(self, x: Floats, y: Floats) -> None:
        self.x: list[float] = x.tolist()
        self.y: list[float] = y.tolist()
        self.inner = self.x[1:-1]
        self.slope: list[float] = ((y[1:] - y[:-1]) / (x[1:] - x[:-1])).tolist()

    def __call__(self, v: float) -> float:
        """Return the function at `v`."""
        i = bisect_right(self.inner, v)
        return self.y[i] + self.slope[i] * (v - self.x[i])


class Path:
    """Some steps in a row, forth and back: O(log g) a curve."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._parts = [_part(step) for step in steps]

    def forward(self, v: Point) -> Point:
        """Return what the reading becomes."""
        for part in self._parts:
            v = part.forward(v)
        return v

    def inverse(self, v: Point) -> Point:
        """Return the reading again."""
        for part in reversed(self._parts):
            v = part.inverse(v)
        return v


class _Affine:
    def __init__(self, step: Affine) -> None:
        self.shift = step.shift.tolist()
        self.there = _terms(step.matrix)
        self.back = _terms(step.turned().matrix)

    def forward(self, v: Point) -> Point:
        return [
            sum([w * v[i] for i, w in row]) + b
            for row, b in zip(self.there, self.shift, strict=True)
        ]

    def inverse(self, v: Point) -> Point:
        v = [x - b for x, b in zip(v, self.shift, strict=True)]
        return [sum([w * v[i] for i, w in row]) for row in self.back]


def _terms(matrix: Floats) -> list[list[tuple[int, float]]]:
    """Return the terms of each row that are not 0."""
    return [[(i, w) for i, w in enumerate(row) if w] for row in matrix.tolist()]


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
        self.parts = [
            (
                j,
                [(i, *_tables(step, j, i)) for i in order[:place]],
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

    def _held(self, z: Point, tables: list[tuple[int, Line, Line]]) -> tuple[float, float]:
        shift, scale = 0.0, 1.0
        for i, mean, spread in tables:
            held = z[i]
            if not self.low <= held <= self.high:
                held = self.low if held < self.low else self.high
            at = bisect_right(mean.inner, held)
            run = held - mean.x[at]
            shift += mean.y[at] + mean.slope[at] * run
            scale *= spread.y[at] + spread.slope[at] * run
        return shift, scale


def _tables(step: KnotheRosenblatt, j: int, i: int) -> tuple[Line, Line]:
    return Line(step.grid, step.mean[j, i]), Line(step.grid, step.scale[j, i])


def _part(step: Step) -> _Affine | _Bend | Triangular:
    if isinstance(step, Affine):
        return _Affine(step)
    if isinstance(step, Bend):
        return _Bend(step)
    if isinstance(step, KnotheRosenblatt):
        return Triangular(step)
    raise TypeError(f"no step {step.kind!r}")
