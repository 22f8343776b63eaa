"""One reading of a class, encoded and decoded without arrays: plain Python.

The bits are those that `Codec` gives in a batch, in a hundredth of the time that arrays need for
one. Whatever is unusual is left to the batch, which says what is wrong and where.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from voile.keys.random import Protective
from voile.signals.codec.lattice import MARGIN, OFF, Lattice
from voile.signals.codec.scalar import Path, at, drawn, nearest, place

GRAIN = 2.0**-44  # what is sent is a multiple of it: see `codec.rounded`


@dataclass(frozen=True, eq=False)
class Single:
    """Send and read one reading at a time by the map of one class.

    Cost: O(d^2 + d log g).
    """

    lattices: tuple[Lattice, ...]
    path: Path

    def send(self, x: Sequence[float], protective: Protective) -> list[float] | None:
        """Return the message of a reading; None of one that is off its lattice or lost."""
        try:
            k = [round(place(one, v)) for one, v in zip(self.lattices, x, strict=True)]
            if not self._are_on(k, x):
                return None
            parts = zip(self.lattices, k, drawn(len(k), protective), strict=True)
            moved = [at(one, p + t) for one, p, t in parts]
            sent = [round(v / GRAIN) * GRAIN for v in self.path.forward(moved)]
        except (ValueError, OverflowError):  # what is missing or infinite has no place
            return None
        for one, p, v in zip(self.lattices, k, self.path.inverse(sent), strict=True):
            if not abs(place(one, v) - p) < 0.5 - MARGIN / 2:
                return None
        return sent

    def _are_on(self, k: Sequence[int], x: Sequence[float]) -> bool:
        """Say whether readings lie on their lattices, at these positions: `Lattice.positions`."""
        for one, p, v in zip(self.lattices, k, x, strict=True):
            reach = abs(p) * one.step + one.step + one.offset
            if reach >= 2.0**52 or abs(at(one, p) - v) > OFF * one.resolution:
                return False
        return True

    def read(self, z: Sequence[float]) -> list[float] | None:
        """Return the reading of a message; None where it has none."""
        try:
            parts = zip(self.lattices, self.path.inverse(z), strict=True)
            return [nearest(one, v) for one, v in parts]
        except (ValueError, OverflowError):
            return None
