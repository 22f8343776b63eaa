"""A map as fixed tables: numbers, where each step finds its own, alike for every class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from voile.core.errors import RequestError
from voile.signals.codec.pieces import Floats
from voile.signals.codec.steps import Affine, Bend, KnotheRosenblatt, Step
from voile.signals.sequences.sequence_codec import SequenceCodec

Plan: TypeAlias = list[int]
LARGEST = 2.0**52  # of the whole numbers that a lattice is made of
MOST = 1 << 17  # numbers: a megabyte, more than any small device has


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

    @classmethod
    def of(cls, codec: SequenceCodec) -> FixedTables:
        """Make the tables of a map that sends each reading by itself, or refuse another."""
        check_single(codec)
        places = tuple(range(len(codec.order)))
        turned = any((law.turn != np.eye(len(places))).any() for law in codec.dynamics)
        if codec.invariants or codec.order != places or turned:
            raise RequestError("the kit's map is not one that voile fits")
        pool, drafts = _Pool(), [_Draft() for _ in codec.codec.steps]
        for draft, steps in zip(drafts, codec.codec.unconditional, strict=True):
            for step in steps:
                draft.add(step, pool)
        lattice = tuple((one.step, one.per, one.offset) for one in codec.lattices)
        if any(draft.shape != drafts[0].shape for draft in drafts):
            raise RequestError("the kit's maps differ in shape from class to class")
        if not all(
            0 < step < LARGEST and 0 < per < LARGEST and abs(offset) < LARGEST
            for step, per, offset in lattice
        ):
            raise RequestError("a column of the kit has no resolution")
        plans = tuple(tuple(draft.plan) for draft in drafts)
        return cls(codec.mark, lattice, tuple(drafts[0].steps), plans, tuple(pool.numbers))


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
        self._places: dict[bytes, int] = {}

    def place(self, array: Floats) -> int:
        """Return where an array begins."""
        data = np.ascontiguousarray(array, dtype="<f8")
        if not np.isfinite(data).all():
            raise RequestError("a number of the kit's map is not finite")
        key = data.tobytes()
        if key not in self._places:
            self._places[key] = len(self.numbers)
            self.numbers += data.ravel().tolist()
        if len(self.numbers) > MOST:
            raise RequestError(
                f"the map's tables take more than {MOST * 8 >> 20} MB",
                instead="send fewer columns, or use the end in Python",
            )
        return self._places[key]


class _Draft:
    """The plan of one class, as it grows."""

    def __init__(self) -> None:
        self.plan: Plan = []
        self.steps: list[tuple[int, int]] = []
        self.shape: list[object] = []

    def add(self, step: Step, pool: _Pool) -> None:
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
    plan += [len(step.grid), pool.place(step.grid)]
    order = [int(j) for j in step.order]
    for k, j in enumerate(order):
        plan += [j, pool.place(step.curve[j])]
        for i in order[:k]:
            plan += [pool.place(step.mean[j, i]), pool.place(step.scale[j, i])]


KINDS: Mapping[str, tuple[int, Callable[[Any, Plan, _Pool], None]]] = {
    Affine.kind: (0, _affine),
    Bend.kind: (1, _bend),
    KnotheRosenblatt.kind: (2, _triangular),
}
"""Per kind of step its number in both ends, and what writes its part of a plan."""
