"""Grids of side columns, chosen so that no level, end or name reveals one person's value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.signals.fitting.maps.columns import Resolution, resolutions
from voile.signals.fitting.methods.transport import TransportMethod
from voile.signals.information.subjects import CheckedSubjects
from voile.signals.model.codec import side as sides
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.nominal import NOMINAL
from voile.signals.model.codec.pieces import Codes
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.maps.fitted import ClassSample, MapMethod

LEAST = 20  # subjects at or beyond each end of a grid, and per name with its own level
NODES = 25  # approximate number


def side_of(
    known: NDArray[Any], whose: Codes, resolutions: Sequence[float | str | None], first: int
) -> tuple[sides.SideColumn, ...]:
    """Return each side column's grid. Text and columns declared nominal have names.

    `known` are (n, q) cells. `first` is the number of the first side column, after the reading
    columns.
    """
    return tuple(
        _column(known[:, j], whose, one, ReadingPlace(first + j))
        for j, one in enumerate(resolutions)
    )


def _column(
    cells: NDArray[Any], whose: Codes, resolution: float | str | None, where: ReadingPlace
) -> sides.SideColumn:
    there = np.array([not sides.is_missing(one) for one in cells], dtype=np.bool_)
    if not there.any():
        raise RequestError("a side column is empty", where=where, instead="leave it out")
    given = cells[there]
    named = any(isinstance(one, str) for one in given)
    if resolution == NOMINAL or (resolution is None and named):
        return sides.NameLevels(_common(given.astype(str), whose[there]))
    if named or isinstance(resolution, str):
        raise RequestError("a side column of numbers holds text", where=where)
    numbers = given.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise RequestError("a side column is infinite", where=where)
    lattice = (
        ValueLattice.find_coarsest(numbers, where)
        if resolution is None
        else ValueLattice.from_resolution(float(resolution), numbers, where)
    )
    return _grid(lattice, numbers, whose[there], where)


def _common(names: NDArray[np.str_], whose: Codes) -> NDArray[np.str_]:
    """Return the names that at least `LEAST` subjects have."""
    pairs = np.unique(np.stack([np.unique(names, return_inverse=True)[1], whose]), axis=1)
    return np.asarray(np.unique(names)[np.bincount(pairs[0]) >= LEAST])


def _grid(
    lattice: ValueLattice, numbers: NDArray[np.float64], whose: Codes, where: ReadingPlace
) -> sides.NumberGrid:
    """Divide the span into equal parts, with enough subjects at or beyond each end.

    Nodes are multiples of the width. Otherwise the first node would reveal a subject's value.
    """
    positions = lattice.positions(numbers, where)
    own = np.unique(whose, return_index=True)[1]  # one value per subject
    each = np.sort(positions[own])
    beyond = min(LEAST, (len(each) + 1) // 2)
    low, high = int(each[beyond - 1]), int(each[-beyond])
    width = max(-(-(high - low) // (NODES - 1)), 1)
    first = low - low % width
    return sides.NumberGrid(lattice, first, width, -(-(high - first) // width) + 1)


def never_together(
    columns: Sequence[sides.SideColumn], levels: sides.SideLevels, c: Codes, classes: int
) -> list[tuple[int, int]]:
    """Return (side column, class) pairs in which the class never occurs with some values.

    A numeric value counts by its quarter of the grid, or as missing.
    """
    found = []
    for j, column in enumerate(columns):
        part = levels.left[j]
        if isinstance(column, sides.NumberGrid):
            part = np.where(part < column.nodes, 4 * part // column.nodes, 4)
        there = np.bincount(part) > 0
        for which in range(classes):
            own = np.bincount(part[c == which], minlength=len(there)) > 0
            if (there & ~own).any():
                found.append((j, which))
    return found


def beside(
    sample: ClassSample, known: ArrayLike, resolution: Resolution, first: int
) -> ClassSample:
    """Return a sample with its side columns, numbered from `first` in errors."""
    table = sides.side_table(known, len(sample.c))
    said = resolutions(resolution, table.shape[1])
    side = side_of(table, sample.subjects, said, first)
    return replace(sample, side=side, levels=sides.read_levels(table, side, len(table), first))


def check_conditional(method: MapMethod, people: CheckedSubjects) -> None:
    """Refuse side columns if the method is not conditional on them."""
    if not isinstance(method, TransportMethod):
        what = "only transport is conditional on side columns"
        raise RequestError(what, where="known", instead="leave the method or the side columns out")
    if people.own:
        what = "own laws are not conditional on side columns"
        raise RequestError(what, where="known", instead="leave one of them out")


def pooled_note(sample: ClassSample, classes: int) -> str | None:
    """Return a note that a class never occurs with a value of a side column, else None."""
    assert sample.levels is not None
    found = never_together(sample.side, sample.levels, sample.c, classes)
    some = {which for _, which in found}
    if not some:
        return None
    return (
        f"{len(some)} of {classes} classes never occur with some value of a side column. There "
        "all classes share one map, and the side column alone excludes the class"
    )
