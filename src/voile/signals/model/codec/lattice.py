"""The lattice that a column's readings lie on, and the dither inside its cells: NumPy alone.

A scale that shows 70.1 has rounded. Whoever decodes an overheard value under every class finds
one result on the scale's lattice: the true class. So each reading is first moved to a point
drawn within its rounding cell, by randomness that no seed gives; rounding takes it off again.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.keys.random import ProtectiveRandom
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.place import ReadingPlace

PLACES = 9
# How far from the ends of its cell a dithered reading stays, in cells: far above rounding errors,
# and so small that a wrong class is betrayed by it about once in a million readings.
MARGIN = 2.0**-20
OFF = 1e-6  # what a reading may lie off the lattice, in cells
NOISE = 4  # what arithmetic may have added, in units of the largest reading's last place


@dataclass(frozen=True)
class ValueLattice:
    """The values (offset + step k) / per, k any whole number: all exact in float64.

    70.1 on the lattice of tenths is 701 / 10, one correctly rounded division of whole numbers,
    and so the same float64 as the text "70.1" gives, on every machine.
    """

    step: int
    per: int
    offset: int = 0

    @property
    def resolution(self) -> float:
        return self.step / self.per

    @classmethod
    def from_resolution(cls, resolution: float, x: Floats, where: ReadingPlace) -> ValueLattice:
        """Take a resolution at its word, if the column's readings bear it out."""
        if not (math.isfinite(resolution) and resolution > 0):
            raise RequestError("a resolution must be more than 0", where=where)
        exact = Fraction(repr(float(resolution)))
        if exact.denominator > 10**PLACES:
            remedy = "declare one such as 0.1, 0.25 or 5"
            raise RequestError(
                f"a resolution has more than {PLACES} decimal places", where=where, instead=remedy
            )
        lattice = cls(exact.numerator, exact.denominator)
        k = lattice.positions(x, where)
        coarser = _common(k)
        if coarser > 1:
            raise RequestError(
                f"all readings lie on a lattice {coarser} times as coarse as the resolution",
                where=where,
                instead=f"declare {lattice.resolution * coarser:g} or leave the resolution out",
            )
        return lattice

    @classmethod
    def find_coarsest(cls, x: Floats, where: ReadingPlace) -> ValueLattice:
        """Find the coarsest decimal lattice that all of `x`, (n,), lies on."""
        noise = NOISE * np.spacing(np.abs(x).max())
        for places in range(PLACES + 1):
            per = 10**places
            whole = np.rint(x * per)
            if np.abs(whole).max() >= 2.0**53:
                break
            if (np.abs(whole / per - x) <= noise).all():
                numbers = whole.astype(np.int64)
                step = max(_common(numbers), 1)
                return cls(step, per, int(numbers[0]) % step)
        raise RequestError(
            "no resolution was found", where=where, instead="declare one, e.g. resolution=0.1"
        )

    def positions(self, x: Floats, where: ReadingPlace) -> NDArray[np.int64]:
        """Return k of each reading, (n,)."""
        k = np.rint((x * self.per - self.offset) / self.step)
        reach = np.abs(k) * self.step + self.step + self.offset < 2.0**52
        off = ~reach | (np.abs(self.values(k) - x) > OFF * self.resolution)
        if off.any():
            raise RequestError(
                f"{off.sum()} readings contradict the resolution {self.resolution:g}, "
                "the first of them here",
                where=where.at(int(off.argmax())),
                instead="round them, or declare a finer resolution and fit again",
            )
        return k.astype(np.int64)

    def values(self, k: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
        """Return the value at each position; positions within a cell are legal."""
        exact: Floats = (self.offset + self.step * k.astype(np.float64)) / self.per
        return exact

    def nearest(self, x: Floats) -> Floats:
        """Return the value whose cell each point lies in."""
        return self.values(np.rint((x * self.per - self.offset) / self.step))

    def within(self, x: Floats, k: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which points lie in the cell of k, and not so near its end that errors count."""
        return np.abs((x * self.per - self.offset) / self.step - k) < 0.5 - MARGIN / 2


def _common(numbers: NDArray[np.int64]) -> int:
    """Return the greatest common divisor of the distances between numbers; 0 when all equal."""
    return int(np.gcd.reduce(np.abs(np.unique(numbers) - numbers.min())))


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Draw the dither of each reading from a key of its own, so that its holder can again.

    keys : 32 bytes a row, which nobody else can guess. Another reading, or another map, needs
        another key: the same dither would cancel between them, and reveal the class.
    """

    keys: Sequence[bytes]

    @classmethod
    def from_key(cls, key: bytes, rows: Iterable[object]) -> RowDraws:
        """Derive the rows' keys from one, by all that makes rows differ: plain Python values."""
        return cls([hmac.digest(key, repr(row).encode(), "sha256") for row in rows])

    def take(self, rows: Codes) -> RowDraws:
        return RowDraws([self.keys[row] for row in rows.tolist()])

    def bytes(self, n: int, attempt: int = 0) -> bytes:
        """Return the bytes of all rows, n in all."""
        each, turn = n // max(len(self.keys), 1), bytes([attempt])
        return b"".join(hashlib.shake_256(key + turn).digest(each) for key in self.keys)


def dither(d: int, n: int, protective: ProtectiveRandom | RowDraws, attempt: int = 0) -> Floats:
    """Draw (d, n) points of a cell, -1/2 to 1/2, each from 53 fresh protective bits."""
    if isinstance(protective, RowDraws):
        drawn = np.frombuffer(protective.bytes(8 * d * n, attempt), dtype="<u8").reshape(n, d).T
    else:
        drawn = np.frombuffer(protective.bytes(8 * d * n), dtype="<u8").reshape(d, n)
    bits = drawn >> np.uint64(11)
    return (bits.astype(np.float64) * 2.0**-53 - 0.5) * (1 - 2 * MARGIN)
