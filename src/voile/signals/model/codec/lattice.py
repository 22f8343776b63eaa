"""The lattice of a column's readings, and the dither within its cells, with NumPy only.

A scale that shows 70.1 has rounded. An adversary who decodes an overheard value under every class
finds a single result on the scale's lattice: that of the true class. Each reading is therefore
first moved to a point drawn within its rounding cell, with randomness that has no seed. Rounding
removes this dither again.
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
# Distance of a dithered reading from the ends of its cell, in cells. It is far above rounding
# errors, and so small that it reveals a wrong class about once in a million readings.
MARGIN = 2.0**-20
OFF = 1e-6  # tolerance of readings off the lattice, in cells
NOISE = 4  # tolerated rounding noise, in units of the largest reading's last place


@dataclass(frozen=True)
class ValueLattice:
    """The values (offset + step k) / per for whole numbers k, all exact in float64.

    On the lattice of tenths, 70.1 is 701 / 10, one correctly rounded division of whole numbers. It
    is therefore the same float64 as the text "70.1" on every machine.
    """

    step: int
    per: int
    offset: int = 0

    @property
    def resolution(self) -> float:
        return self.step / self.per

    @classmethod
    def from_resolution(cls, resolution: float, x: Floats, where: ReadingPlace) -> ValueLattice:
        """Return the lattice of a declared resolution.

        Raises
        ------
        RequestError : the resolution is not above 0 or has more than 9 decimal places. Or the
            column's readings contradict it, or all lie on a coarser lattice.
        """
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
        """Find the coarsest decimal lattice that contains all of `x`, (n,)."""
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
        """Return the position k of each reading, (n,).

        Raises
        ------
        RequestError : a reading is off the lattice, or too large for exact arithmetic.
        """
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
        """Return the value at each position. Positions within a cell are allowed."""
        exact: Floats = (self.offset + self.step * k.astype(np.float64)) / self.per
        return exact

    def nearest(self, x: Floats) -> Floats:
        """Return the lattice value of the cell that contains each point."""
        return self.values(np.rint((x * self.per - self.offset) / self.step))

    def within(self, x: Floats, k: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each point lies in the cell of k, away from its ends by a margin."""
        return np.abs((x * self.per - self.offset) / self.step - k) < 0.5 - MARGIN / 2


def _common(numbers: NDArray[np.int64]) -> int:
    """Return the greatest common divisor of the distances between numbers; 0 if all are equal."""
    return int(np.gcd.reduce(np.abs(np.unique(numbers) - numbers.min())))


@dataclass(frozen=True, eq=False)
class RowDraws:
    """Dither drawn from one key per reading, so that a holder of the keys can draw it again.

    keys : 32 bytes per row, which nobody else can guess. Another reading or another map needs
        another key. The same dither would cancel between them and reveal the class.
    """

    keys: Sequence[bytes]

    @classmethod
    def from_key(cls, key: bytes, rows: Iterable[object]) -> RowDraws:
        """Derive one key per row from `key` and the row's content, given as plain Python values."""
        return cls([hmac.digest(key, repr(row).encode(), "sha256") for row in rows])

    def take(self, rows: Codes) -> RowDraws:
        return RowDraws([self.keys[row] for row in rows.tolist()])

    def bytes(self, n: int, attempt: int = 0) -> bytes:
        """Return the bytes of all rows, n in total."""
        each, turn = n // max(len(self.keys), 1), bytes([attempt])
        return b"".join(hashlib.shake_256(key + turn).digest(each) for key in self.keys)


def dither(d: int, n: int, protective: ProtectiveRandom | RowDraws, attempt: int = 0) -> Floats:
    """Draw (d, n) points in a cell, between -1/2 and 1/2, each from 53 fresh random bits."""
    if isinstance(protective, RowDraws):
        drawn = np.frombuffer(protective.bytes(8 * d * n, attempt), dtype="<u8").reshape(n, d).T
    else:
        drawn = np.frombuffer(protective.bytes(8 * d * n), dtype="<u8").reshape(d, n)
    bits = drawn >> np.uint64(11)
    return (bits.astype(np.float64) * 2.0**-53 - 0.5) * (1 - 2 * MARGIN)
