"""Side columns and their frames for one reading at a time, in plain Python.

The results are bit-identical to those of `side.py` and `conditional.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ldexp, nan
from typing import TypeAlias

from voile.signals.model.codec.conditional import LADDER, OCTAVE, UNIT, ConditionalFrame
from voile.signals.model.codec.scalar import Point, at, is_on, place
from voile.signals.model.codec.side import NameLevels, NumberGrid, SideColumn, is_missing

# the lower level, the share of the next level, and the number itself, as in `SideLevels`
Level: TypeAlias = tuple[int, int, float]
# the column, its shift, its spread and its slopes on the columns before it
FrameRow: TypeAlias = tuple[int, float, float, list[tuple[int, float]]]


def level_of(column: SideColumn) -> Callable[[object], Level | None]:
    """Return a function that reads a side column's cell.

    It returns None for a cell that only a batch can handle.
    """
    return _of_name(column) if isinstance(column, NameLevels) else _of_number(column)


def _of_number(column: NumberGrid) -> Callable[[object], Level | None]:
    lattice, first, width = column.lattice, column.first, column.width
    last = (column.nodes - 1) * width

    def read(cell: object) -> Level | None:
        if is_missing(cell):
            return column.nodes, 0, nan
        try:
            value = float(cell)  # type: ignore[arg-type]
            position = round(place(lattice, value))
        except (TypeError, ValueError, OverflowError):
            return None
        if not is_on(lattice, position, value):
            return None
        left, share = divmod(min(max(position - first, 0), last), width)
        return left, share, at(lattice, position)

    return read


def _of_name(column: NameLevels) -> Callable[[object], Level | None]:
    levels = {name: level for level, name in enumerate(column.values.tolist())}
    others = len(levels)

    def read(cell: object) -> Level | None:
        if is_missing(cell):
            return others + 1, 0, nan
        name = str(cell)
        # NumPy text arrays drop trailing null characters
        return None if "\0" in name else (levels.get(name, others), 0, nan)

    return read


class CellFrames:
    """A conditional step for one point at a time, to be evaluated at given side levels."""

    def __init__(self, step: ConditionalFrame) -> None:
        d = len(step.order)
        self._order: list[int] = step.order.tolist()
        self._before = [self._order[:place] for place in range(d)]
        pairs = zip(self._order, self._before, strict=True)
        slopes = [d * (2 + j) + i for j, before in pairs for i in before]
        self._used = [*range(2 * d), *slopes]
        self._widths: list[int] = step.widths.tolist()
        self._levels: list[int] = step.levels.tolist()
        self._terms = self._cells(step)
        self._ladder: list[int] = step.ladder.tolist()
        self._share = float(step.share)
        self._matrix: list[list[float]] = step.matrix.tolist()
        self._shift: list[float] = step.shift.tolist()
        self._turned = bool(step.turned)

    def _cells(self, step: ConditionalFrame) -> list[tuple[int, int, list[list[int]]]]:
        """Return for each term its side columns and the used outputs of each cell."""
        found, first = [], 0
        for (a, b), size in zip(step.terms.tolist(), step.side.cells, strict=True):
            rows = step.tables[self._used, first : first + size].T.tolist()
            found.append((a, b, rows))
            first += size
        return found

    def at(self, levels: Sequence[Level]) -> _CellFrame:
        """Return the frame at these levels, like `ConditionalFrame.at` for one row."""
        total = [0] * len(self._used)
        for a, b, rows in self._terms:
            corners, width = _corners(levels[a], self._widths[a]), self._widths[a]
            if b >= 0:
                m, others = self._levels[b], _corners(levels[b], self._widths[b])
                corners = [(i * m + j, x * y) for i, x in corners for j, y in others]
                width *= self._widths[b]
            (first, x), *rest = corners
            if not rest:  # x is the width
                total = [t + p for t, p in zip(total, rows[first], strict=True)]
                continue
            held = [x * p for p in rows[first]]
            for i, y in rest:
                held = [h + y * p for h, p in zip(held, rows[i], strict=True)]
            total = [t + h // width for t, h in zip(total, held, strict=True)]
        return self._frame(total)

    def _frame(self, total: Sequence[int]) -> _CellFrame:
        d, share, slopes = len(self._order), self._share, iter(total[2 * len(self._order) :])
        moved = [share * (total[j] * UNIT) + self._shift[j] for j in range(d)]
        diagonal = []
        for j in range(d):
            octave, fine = divmod(total[d + j], OCTAVE)
            spread = ldexp(self._ladder[fine] * LADDER, octave)
            diagonal.append(share * spread + self._matrix[j][j])
        rows = [
            (j, moved[j], diagonal[j],
             [(i, share * (next(slopes) * UNIT) + self._matrix[j][i]) for i in before])
            for j, before in zip(self._order, self._before, strict=True)
        ]  # fmt: skip
        return _CellFrame(rows, turned=self._turned)


def _corners(level: Level, width: int) -> list[tuple[int, int]]:
    left, share, _ = level
    return [(left, width - share), (left + 1, share)] if share else [(left, width)]


class _CellFrame:
    """A triangular frame for one row, the counterpart of `RowFrames`."""

    def __init__(self, rows: Sequence[FrameRow], *, turned: bool) -> None:
        self._rows = rows
        self._turned = turned

    def forward(self, v: Point) -> Point:
        return self._into(v) if self._turned else self._out(v)

    def inverse(self, v: Point) -> Point:
        return self._out(v) if self._turned else self._into(v)

    def _out(self, w: Point) -> Point:
        v = [0.0] * len(w)
        for j, moved, diagonal, row in self._rows:
            for i, slope in row:
                moved += slope * w[i]
            v[j] = moved + diagonal * w[j]
        return v

    def _into(self, v: Point) -> Point:
        w = [0.0] * len(v)
        for j, moved, diagonal, row in self._rows:
            for i, slope in row:
                moved += slope * w[i]
            w[j] = (v[j] - moved) / diagonal
        return w
