"""Lattices and elementary steps for one reading at a time, in plain Python.

A NumPy call costs more than all the arithmetic of one reading. This module computes the results of
`lattice.py` and `steps.py` in Python floats. It uses the same operations in the same order on every
machine, and so gives the same bits.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from math import isfinite
from typing import Protocol, TypeAlias

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals.model.codec.lattice import MARGIN, OFF, RowDraws, ValueLattice

Point: TypeAlias = Sequence[float]
INSIDE = 1 - 2 * MARGIN


class ScalarStep(Protocol):
    """A step for one point at a time, the counterpart of `CodecStep`."""

    def forward(self, v: Point, /) -> Point: ...

    def inverse(self, v: Point, /) -> Point: ...


class StepPath:
    """A sequence of steps and its inverse, O(log g) for each curve."""

    forward: Callable[[Point], Point]
    inverse: Callable[[Point], Point]

    def __init__(self, parts: Sequence[ScalarStep]) -> None:
        self.forward = _in_turn([part.forward for part in parts])
        self.inverse = _in_turn([part.inverse for part in reversed(parts)])


def _in_turn(ways: Sequence[Callable[[Point], Point]]) -> Callable[[Point], Point]:
    if len(ways) == 1:  # true of most maps; saves a call
        return ways[0]

    def go(v: Point) -> Point:
        for way in ways:
            v = way(v)
        return v

    return go


def at(lattice: ValueLattice, k: float) -> float:
    """Return the value at a position, whole or within a cell, like `ValueLattice.values`."""
    return (lattice.offset + lattice.step * k) / lattice.per


def is_on(lattice: ValueLattice, k: int, v: float) -> bool:
    """Return whether a value is at a position, like `ValueLattice.positions`."""
    reach = abs(k) * lattice.step + lattice.step + lattice.offset
    return reach < 2.0**52 and abs(at(lattice, k) - v) <= OFF * lattice.resolution


def on_lattice(lattice: ValueLattice, v: float, where: str) -> float:
    """Return the lattice's value nearest to a reading.

    Raises
    ------
    RequestError : the reading is missing, infinite or off the lattice.
    """
    if not isfinite(v):
        raise RequestError("a reading is missing or infinite", where=where, instead="set it aside")
    k = place(lattice, v)
    if not (isfinite(k) and is_on(lattice, round(k), v)):
        raise RequestError(
            f"a reading contradicts the resolution {lattice.resolution:g}",
            where=where,
            instead="round it, or declare a finer resolution and fit again",
        )
    return at(lattice, round(k))


def place(lattice: ValueLattice, v: float) -> float:
    """Return the position of a point in cells. Checks and decoding must round the same number.

    Far from 0 the products are rounded, so a point well within its cell may appear at its edge.
    """
    return (v * lattice.per - lattice.offset) / lattice.step


def draw_dither(n: int, protective: ProtectiveRandom | RowDraws) -> list[float]:
    """Draw n points in a cell, like `lattice.dither` but for few points."""
    whole = struct.unpack(f"<{n}Q", protective.bytes(8 * n))
    return [((bits >> 11) * 2.0**-53 - 0.5) * INSIDE for bits in whole]
