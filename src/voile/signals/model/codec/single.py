"""Encoding and decoding of one reading without arrays, in plain Python.

The bits are the same as from a batch of `Codec`, in a hundredth of the time that arrays need for
one reading. The batch code handles all unusual input, and its errors name the problem and the
place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from voile.keys.random import ProtectiveRandom
from voile.signals.model.codec.cells import ReadingCells
from voile.signals.model.codec.conditional import ConditionalFrame, MapStep
from voile.signals.model.codec.grain import GRAIN
from voile.signals.model.codec.lattice import RowDraws, ValueLattice
from voile.signals.model.codec.lift import LiftedPath, RelationLift
from voile.signals.model.codec.scalar import ScalarStep, StepPath, draw_dither
from voile.signals.model.codec.scalar_side import CellFrames, Level, level_of
from voile.signals.model.codec.side import SideColumn, SideLevels
from voile.signals.model.codec.steps import CodecStep
from voile.signals.model.codec.written_steps import WrittenSteps

CELLS = 1024  # cached combinations of side levels


@dataclass(frozen=True, eq=False)
class SingleReading:
    """The encoder and decoder of one reading at a time, by the map of one class.

    Cost: O(d^2 + d log g).
    """

    cells: ReadingCells
    path: ScalarStep

    def send(
        self, x: Sequence[float], protective: ProtectiveRandom | RowDraws
    ) -> list[float] | None:
        """Return the message of a reading, or None if it is off its lattice or would not decode."""
        try:
            k = self.cells.rounded(x)
            if not self.cells.on(k, x):
                return None
            scores = self.path.forward(self.cells.moved(k, draw_dither(len(k), protective)))
            sent = [round(v / GRAIN) * GRAIN for v in scores]
        except (ValueError, OverflowError):  # missing and infinite readings have no position
            return None
        return sent if self.cells.hold(k, self.path.inverse(sent)) else None

    def decode_message(self, z: Sequence[float]) -> Sequence[float] | None:
        """Return the reading of a message, or None if it has none."""
        try:
            return self.cells.values(self.cells.rounded(self.path.inverse(z)))
        except (ValueError, OverflowError):
            return None


class SingleReadings:
    """The single-reading codecs of one class, one for each combination of side levels."""

    def __init__(
        self,
        lattices: tuple[ValueLattice, ...],
        steps: Sequence[MapStep],
        side: Sequence[SideColumn],
        lift: RelationLift | None = None,
    ) -> None:
        size = len(lift.base) if lift else len(lattices)
        parts, cells = list(_parts(steps, size)), ReadingCells(lattices)
        self._levels = [level_of(column) for column in side]

        def single(levels: tuple[Level, ...]) -> SingleReading:
            each = [one.at(levels) if isinstance(one, CellFrames) else one for one in parts]
            path = StepPath(each)
            if lift:
                return SingleReading(cells, LiftedPath(lift, [value for *_, value in levels], path))
            return SingleReading(cells, path)

        self._single = lru_cache(CELLS)(single)

    def at(self, known: object) -> SingleReading | None:
        """Return the codec for these side columns, or None if they need the batch code."""
        if known is None or isinstance(known, SideLevels):
            return None if known is not None or self._levels else self._single(())
        row = np.asarray(known, dtype=object).ravel().tolist()
        if len(row) != len(self._levels):
            return None
        levels = [level(cell) for level, cell in zip(self._levels, row, strict=True)]
        found = tuple([one for one in levels if one is not None])
        return self._single(found) if len(found) == len(row) else None


def _parts(steps: Sequence[MapStep], d: int) -> Iterator[CellFrames | WrittenSteps]:
    """Merge the steps between side-dependent steps into one generated function each."""
    row: list[CodecStep] = []
    for step in steps:
        if not isinstance(step, ConditionalFrame):
            row.append(step)
            continue
        if row:
            yield WrittenSteps(row, d)
        yield CellFrames(step)
        row = []
    if row:
        yield WrittenSteps(row, d)
