"""Affine frames that depend on side columns, stored as integer tables.

A frame maps standard values w to v = L(k) w + m(k). Here k is the row's side levels, and L is
triangular with a positive diagonal. Shifts and slopes are multiples of 2^-24. Spreads are powers of
2 in steps of 1/256. Each is a sum with one table for every side column, and one for each pair of
side columns that has a table. Integer sums do not depend on their order, so client and server
compute bit-identical frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.side import SideColumn, SideLevels
from voile.signals.model.codec.steps import STEPS, AffineMap, Arrays, CodecStep

UNIT = 2.0**-24  # unit of shifts and slopes
OCTAVE = 256  # steps of a spread between two powers of 2
LADDER = 2.0**-30  # unit of the steps within an octave
MOST = 1 << 36  # largest table entry: products with widths stay exact integers


@dataclass(frozen=True, eq=False)
class SideTables(BriefRepr):
    """Sums of tables, looked up at the levels of side columns or of pairs of them.

    terms : (t, 2) the side columns of each table. The second is -1 for a single column.
    tables : (outputs, cells) whole numbers; the cells of the terms are concatenated.
    """

    terms: NDArray[np.int64]
    tables: NDArray[np.int64]
    levels: NDArray[np.int64]  # (q,) number of levels of each side column
    widths: NDArray[np.int64]  # (q,) parts between two levels

    @classmethod
    def of(
        cls,
        columns: Sequence[SideColumn],
        terms: Sequence[tuple[int, int]],
        tables: Sequence[Floats],
    ) -> SideTables:
        """Round tables to whole numbers; each term has one table, (outputs, cells)."""
        whole = np.rint(np.concatenate(tables, axis=1)).astype(np.int64)
        levels = np.array([one.levels for one in columns], dtype=np.int64)
        widths = np.array([one.width for one in columns], dtype=np.int64)
        return cls(np.array(terms, dtype=np.int64).reshape(-1, 2), whole, levels, widths)

    def __post_init__(self) -> None:
        if sum(self.cells) != self.tables.shape[1] or (np.abs(self.tables) > MOST).any():
            raise ValueError("the tables of side columns do not fit their levels")

    @property
    def cells(self) -> list[int]:
        """The number of cells of each term."""
        return [
            int(self.levels[a] * (self.levels[b] if b >= 0 else 1)) for a, b in self.terms.tolist()
        ]

    def look_up_sums(self, at: SideLevels) -> NDArray[np.int64]:
        """Return the sums, (outputs, n), interpolated linearly between levels and rounded down."""
        total = np.zeros((len(self.tables), at.left.shape[1]), dtype=np.int64)
        first = 0
        for (a, b), size in zip(self.terms.tolist(), self.cells, strict=True):
            table = self.tables[:, first : first + size]
            first += size
            total += self._term(table, at, a, b)
        return total

    def _term(self, table: NDArray[np.int64], at: SideLevels, a: int, b: int) -> NDArray[np.int64]:
        if b < 0:
            parts = [(i, x) for i, x in self._corners(at, a)]
            return np.asarray(_sum(table, parts) // self.widths[a])
        m = self.levels[b]
        parts = [
            (i * m + j, x * y) for i, x in self._corners(at, a) for j, y in self._corners(at, b)
        ]
        return np.asarray(_sum(table, parts) // (self.widths[a] * self.widths[b]))

    def _corners(self, at: SideLevels, j: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return the levels around each row's value and the weight of each level."""
        left, share = at.left[j], at.share[j]
        if not share.any():
            return [(left, np.full_like(left, self.widths[j]))]
        return [(left, self.widths[j] - share), (left + (share > 0), share)]


def _sum(
    table: NDArray[np.int64], parts: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.int64]:
    return np.asarray(sum(table.take(i, axis=1) * x for i, x in parts))


@dataclass(frozen=True, eq=False)
class ConditionalFrame:
    """A frame w -> (share L(k) + matrix) w + share m(k) + shift that depends on side levels k.

    The rows of `tables` are d shifts, d spreads, then d times d slopes. A column only uses slopes
    on columns before it in `order`. `matrix` is triangular in the same order. `ladder` contains the
    256 steps from 1 to 2, in units of 2^-30. If `turned` is 1, the frame maps v to w instead.
    """

    kind: ClassVar[str] = "conditional"
    order: NDArray[np.int64]
    terms: NDArray[np.int64]
    tables: NDArray[np.int64]
    levels: NDArray[np.int64]
    widths: NDArray[np.int64]
    ladder: NDArray[np.int64]
    share: NDArray[np.float64]  # one number
    matrix: Floats
    shift: Floats
    turned: NDArray[np.int64]  # one number, 0 or 1

    def __post_init__(self) -> None:
        d = len(self.order)
        shapes = self.matrix.shape, self.shift.shape, self.ladder.shape
        if shapes != ((d, d), (d,), (OCTAVE,)) or len(self.tables) != d * (d + 2):
            raise ValueError("the tables of a conditional frame do not fit its columns")
        if sorted(self.order) != list(range(d)) or not (self.ladder > 0).all():
            raise ValueError("a conditional frame is not invertible")
        if len(self.levels) and self.side.terms.max(initial=0) >= len(self.levels):
            raise ValueError("a table is of a side column that there is none of")

    @classmethod
    def of(cls, order: NDArray[np.int64], side: SideTables) -> ConditionalFrame:
        """Return the frame of these tables, with all of it depending on the side columns."""
        d = len(order)
        return cls(
            order.astype(np.int64),
            side.terms,
            side.tables,
            side.levels,
            side.widths,
            np.rint(2.0 ** (np.arange(OCTAVE) / OCTAVE) * 2**30).astype(np.int64),
            np.array(1.0),
            np.zeros((d, d)),
            np.zeros(d),
            np.array(0),
        )

    @cached_property
    def side(self) -> SideTables:
        return SideTables(self.terms, self.tables, self.levels, self.widths)

    def turn(self) -> ConditionalFrame:
        return replace(self, turned=1 - self.turned)

    def towards(self, other: AffineMap, strength: float) -> ConditionalFrame:
        """Return (1 - strength) times this frame plus `strength` times another, for all rows."""
        matrix, shift = strength * other.matrix, strength * other.shift
        return replace(self, share=np.array(1.0 - strength), matrix=matrix, shift=shift)

    def at(self, levels: SideLevels) -> RowFrames:
        """Return the frame of each row, given its side levels."""
        d, n = len(self.order), levels.left.shape[1]
        total = self.side.look_up_sums(levels)
        share = float(self.share)
        moved = share * (total[:d] * UNIT) + self.shift[:, None]
        fine, octave = total[d : 2 * d] & (OCTAVE - 1), total[d : 2 * d] // OCTAVE
        spread = np.ldexp(self.ladder[fine] * LADDER, octave.astype(np.int32))
        slope = share * (total[2 * d :].reshape(d, d, n) * UNIT) + self.matrix[:, :, None]
        diagonal = share * spread + np.diagonal(self.matrix)[:, None]
        return RowFrames(self.order, moved, diagonal, slope, bool(self.turned))

    def typical(self, levels: SideLevels) -> AffineMap:
        """Return the mean of the rows' frames, without slopes."""
        rows = self.at(levels)
        return AffineMap(np.diag(rows.diagonal.mean(axis=1)), rows.moved.mean(axis=1))

    def to_arrays(self) -> Arrays:
        names = ("order", "terms", "tables", "levels", "widths", "ladder", "share", "matrix")
        return {name: getattr(self, name) for name in (*names, "shift", "turned")}


@dataclass(frozen=True, eq=False)
class RowFrames:
    """A triangular frame for each row, used like any other step."""

    order: NDArray[np.int64]
    moved: Floats  # (d, n)
    diagonal: Floats  # (d, n), above 0
    slope: Floats  # (d, d, n) slopes of a column on those before it
    turned: bool

    def forward(self, V: Floats) -> Floats:
        return self._into(V) if self.turned else self._out(V)

    def inverse(self, V: Floats) -> Floats:
        return self._out(V) if self.turned else self._into(V)

    def _out(self, W: Floats) -> Floats:
        V = np.empty_like(W)
        for place, j in enumerate(self.order):
            V[j] = self._move_column(W, place) + self.diagonal[j] * W[j]
        return V

    def _into(self, V: Floats) -> Floats:
        W = np.empty_like(V)
        for place, j in enumerate(self.order):
            W[j] = (V[j] - self._move_column(W, place)) / self.diagonal[j]
        return W

    def _move_column(self, W: Floats, place: int) -> Floats:
        j = self.order[place]
        moved: Floats = self.moved[j]
        for i in self.order[:place]:
            moved = moved + self.slope[j, i] * W[i]
        return moved

    @property
    def log_slope(self) -> Floats:
        """The log of the volume in v of a unit volume in w, (n,)."""
        return np.asarray(np.log(self.diagonal).sum(axis=0))


MapStep: TypeAlias = CodecStep | ConditionalFrame


def read_steps(arrays: Mapping[str, NDArray[Any]]) -> tuple[tuple[MapStep, ...], ...]:
    """Read the steps of each class from the result of `Codec.to_arrays`."""
    parts: dict[tuple[int, int, str], dict[str, Any]] = {}
    for key in arrays:
        if key.startswith("class."):
            _, which, place, kind, name = key.split(".")
            parts.setdefault((int(which), int(place), kind), {})[name] = arrays[key]
    classes: list[list[MapStep]] = [[] for _ in arrays["classes"]]
    for (label, _, kind), given in sorted(parts.items(), key=lambda part: part[0]):
        step = ConditionalFrame if kind == ConditionalFrame.kind else STEPS[kind]
        classes[label].append(step(**given))
    return tuple(tuple(steps) for steps in classes)
