"""A map as fixed tables: numbers, where each step finds its own, alike for every class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.codec.codec import Codec
from voile.signals.codec.conditional import LADDER, OCTAVE, Conditional, MapStep
from voile.signals.codec.lattice import Lattice
from voile.signals.codec.pieces import Floats
from voile.signals.codec.side import NumberGrid, SideColumn
from voile.signals.codec.steps import Affine, Bend, KnotheRosenblatt
from voile.signals.sequences.sequence_codec import SequenceCodec

Plan: TypeAlias = list[int]
Side: TypeAlias = tuple[int, int, int, int, int, int]
LARGEST = 2.0**52  # of the whole numbers that a lattice is made of
MOST = 1 << 17  # numbers: a megabyte, more than any small device has
EXACT = 2**53  # whole numbers below this are exact in JavaScript's doubles
HIGHEST = 1000  # octaves of a spread
SHORT = 1 << 31


@dataclass(frozen=True)
class FixedTables:
    """What a small device's end reads.

    Each class has a plan of the same length, which names a place among `numbers` wherever another
    class's does: neither sizes nor the number of reads differ from class to class.
    """

    mark: str  # of the map, 16 hexadecimal digits
    lattice: tuple[tuple[int, int, int], ...]  # per column: step, per, offset
    steps: tuple[tuple[int, int], ...]  # number of its kind, and where in a plan it begins
    plans: tuple[tuple[int, ...], ...]  # per class
    numbers: tuple[float, ...]
    sides: tuple[Side, ...] = ()  # per side column: step, per, offset, first node, width, nodes
    wholes: tuple[int, ...] = ()  # the tables of side columns

    @property
    def size(self) -> int:
        """How many bytes the tables take in C."""
        return 8 * len(self.numbers) + self.width * len(self.wholes)

    @property
    def width(self) -> int:
        """How many bytes a whole number takes."""
        return 4 if all(-SHORT <= one < SHORT for one in self.wholes) else 8

    @classmethod
    def of_sequence(cls, codec: SequenceCodec) -> FixedTables:
        """Make the tables of a map that sends each reading by itself, or refuse another."""
        check_single(codec)
        places = tuple(range(len(codec.order)))
        turned = any((law.turn != np.eye(len(places))).any() for law in codec.dynamics)
        if codec.invariants or codec.order != places or turned:
            raise RequestError("the kit's map is not one that voile fits")
        return cls.of(codec.codec, codec.mark)

    @classmethod
    def of(cls, codec: Codec, mark: str) -> FixedTables:
        """Make the tables of a map of single readings, all numbers."""
        lattices = [column for column in codec.columns if isinstance(column, Lattice)]
        if len(lattices) < len(codec.columns):
            raise RequestError(
                "a column is nominal, which small devices do not send", instead="leave it out"
            )
        _check_fits(codec)
        pool, drafts = _Pool(), [_Draft() for _ in codec.steps]
        for draft, steps in zip(drafts, _alike(codec.steps), strict=True):
            for step in steps:
                draft.add(step, pool)
        if any(draft.shape != drafts[0].shape for draft in drafts):
            raise RequestError("the kit's maps differ in shape from class to class")
        if not all(map(_is_whole, lattices)):
            raise RequestError("a column of the kit has no resolution")
        lattice = tuple((one.step, one.per, one.offset) for one in lattices)
        plans = tuple(tuple(draft.plan) for draft in drafts)
        found, numbers = tuple(drafts[0].steps), tuple(pool.numbers)
        sides, wholes = tuple(map(_side, codec.side)), tuple(pool.wholes)
        return cls(mark, lattice, found, plans, numbers, sides, wholes)


def _check_fits(codec: Codec) -> None:
    """Refuse steps of other columns than the map's: an end would read beyond its tables."""
    levels, widths = [one.levels for one in codec.side], [one.width for one in codec.side]
    for step in chain.from_iterable(codec.steps):
        sound = len(step.to_arrays()[_SIZED[step.kind]]) == len(codec.columns)
        if isinstance(step, Conditional):
            sound &= step.levels.tolist() == levels and step.widths.tolist() == widths
            sound &= bool((step.terms >= (0, -1)).all())
        if not sound:
            raise RequestError("a step of the kit's map is of other columns than the map")


def _side(column: SideColumn) -> Side:
    """Return what an end needs to place a side column; of names, their numbers are given."""
    if isinstance(column, NumberGrid):
        grid = column.lattice
        if not (column.width > 0 and column.nodes > 0 and _is_whole(grid)):
            raise RequestError("a side column of the kit has no resolution")
        return grid.step, grid.per, grid.offset, column.first, column.width, column.nodes
    return 1, 1, 0, 0, 1, column.levels - 1


def _is_whole(lattice: Lattice) -> bool:
    """Say whether doubles hold a lattice exactly."""
    whole = 0 < lattice.step < LARGEST and 0 < lattice.per < LARGEST
    return whole and abs(lattice.offset) < LARGEST


def _alike(classes: Sequence[Sequence[MapStep]]) -> list[list[MapStep]]:
    """Give each class as many side frames as any has: else their number would reveal the class."""
    found = [list(steps) for steps in classes]
    frames = [sum(isinstance(step, Conditional) for step in steps) for steps in found]
    full = found[frames.index(max(frames))] if frames else []
    for steps, own in zip(found, frames, strict=True):
        for place, step in enumerate(full):
            if own < max(frames) and isinstance(step, Conditional):
                here = steps[place] if place < len(steps) else None
                if not isinstance(here, Conditional):
                    steps.insert(place, replace(step, tables=np.zeros_like(step.tables)))
    return found


def check_single(codec: SequenceCodec) -> None:
    """Refuse a map whose readings stand on those before."""
    if not codec.forgets:
        raise RequestError(
            "the kit's sessions need a square root at every reading, which the end of a small "
            "device does not have",
            instead="fit to one reading of each subject, and each is sent by itself",
        )


class _Pool:
    """Numbers, equal arrays once."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.wholes: list[int] = []
        self._places: dict[bytes, int] = {}

    def place_wholes(self, array: NDArray[np.int64]) -> int:
        """Return where a table of whole numbers begins."""
        key = b"whole" + np.ascontiguousarray(array).tobytes()
        if key not in self._places:
            self._places[key] = len(self.wholes)
            self.wholes += array.ravel().tolist()
        self._check()
        return self._places[key]

    def place(self, array: Floats) -> int:
        """Return where an array begins."""
        data = np.ascontiguousarray(array, dtype="<f8")
        if not np.isfinite(data).all():
            raise RequestError("a number of the kit's map is not finite")
        key = data.tobytes()
        if key not in self._places:
            self._places[key] = len(self.numbers)
            self.numbers += data.ravel().tolist()
        self._check()
        return self._places[key]

    def _check(self) -> None:
        if len(self.numbers) + len(self.wholes) > MOST:
            raise RequestError(
                f"the map's tables take more than {MOST * 8 >> 20} MB",
                instead="send fewer columns, or use the end in Python",
            )


class _Draft:
    """The plan of one class, as it grows."""

    def __init__(self) -> None:
        self.plan: Plan = []
        self.steps: list[tuple[int, int]] = []
        self.shape: list[object] = []

    def add(self, step: MapStep, pool: _Pool) -> None:
        kind, write = KINDS[step.kind]
        self.steps.append((kind, len(self.plan)))
        write(step, self.plan, pool)
        sizes = sorted((name, array.shape) for name, array in step.to_arrays().items())
        self.shape.append((kind, len(self.plan), sizes))


def _affine(step: Affine, plan: Plan, pool: _Pool) -> None:
    matrices = step.matrix, step.turned().matrix
    plan += [pool.place(matrix) for matrix in matrices] + [pool.place(step.shift)]


def _bend(step: Bend, plan: Plan, pool: _Pool) -> None:
    plan.append(step.x.shape[1])
    for x, y in zip(step.x, step.y, strict=True):
        plan += [pool.place(x), pool.place(y)]


def _triangular(step: KnotheRosenblatt, plan: Plan, pool: _Pool) -> None:
    first, last = _bent(step)
    plan += [len(step.grid), pool.place(step.grid), first, last - first]
    order = [int(j) for j in step.order]
    for k, j in enumerate(order):
        plan += [j, pool.place(step.curve[j])]
        for i in order[:k]:
            tables = step.mean[j, i, first:last], step.scale[j, i, first:last]
            plan += [pool.place(one) for one in tables]


def _bent(step: KnotheRosenblatt) -> tuple[int, int]:
    """Return the knots beyond which conditional means and spreads are flat: these are left out.

    A value beyond is held at the last knot but flat pieces, and so has the same bits as there.
    """
    tables = np.concatenate([step.mean, step.scale]).reshape(-1, len(step.grid))
    moves = np.flatnonzero((tables[:, 1:] != tables[:, :-1]).any(axis=0))
    if not len(moves):
        return 0, 2
    return max(int(moves[0]) - 1, 0), min(int(moves[-1]) + 3, len(step.grid))


def _conditional(step: Conditional, plan: Plan, pool: _Pool) -> None:
    d, order = len(step.order), [int(j) for j in step.order]
    slopes = [d * (2 + j) + i for place, j in enumerate(order) for i in order[:place]]
    plan += [int(step.turned[()]), *order]
    plan += [pool.place(np.asarray(part)) for part in (step.share, step.matrix, step.shift)]
    plan += [pool.place(np.asarray(step.ladder * LADDER)), len(step.terms)]
    first, reach = 0, np.zeros(len(step.tables))
    for (a, b), size in zip(step.terms.tolist(), step.side.cells, strict=True):
        table = step.tables[[*range(2 * d), *slopes], first : first + size]
        most = int(np.abs(step.tables[:, first : first + size]).max(initial=0))
        if most * int(step.widths[a]) * (int(step.widths[b]) if b >= 0 else 1) >= EXACT:
            raise RequestError("a number of the kit's side tables is out of range")
        reach = reach + np.abs(step.tables[:, first : first + size]).max(axis=1, initial=0)
        plan += [a, b, pool.place_wholes(table.T)]
        first += size
    if reach.max(initial=0) >= EXACT or reach[d : 2 * d].max() >= HIGHEST * OCTAVE:
        raise RequestError("a number of the kit's side tables is out of range")


KINDS: Mapping[str, tuple[int, Callable[[Any, Plan, _Pool], None]]] = {
    Affine.kind: (0, _affine),
    Bend.kind: (1, _bend),
    KnotheRosenblatt.kind: (2, _triangular),
    Conditional.kind: (3, _conditional),
}
"""Per kind of step its number in both ends, and what writes its part of a plan."""

_SIZED = {
    Affine.kind: "shift",
    Bend.kind: "x",
    KnotheRosenblatt.kind: "order",
    Conditional.kind: "order",
}
"""Per kind of step an array that has a row for each column."""
