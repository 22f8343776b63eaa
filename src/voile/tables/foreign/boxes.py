"""Find the combinations of values that fit a leaf of value sets, exactly, also if leaves meet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.bool_]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]
UNKNOWN = -1
CELLS_AT_ONCE = 1 << 25


def fits(holds: Sequence[Bits], boxes: Codes, positions: Codes) -> Iterator[tuple[slice, Bits]]:
    """Yield which combinations (n, q) fit each leaf (b, q), in parts of the combinations.

    Parameters
    ----------
    holds : by column, (cells, values) bool, the values that each cell may represent.
    boxes : (b, q) a cell number for each column.
    positions : (n, q) a value for each column. -1 is unknown and fits every cell. The position
        after the last value is a value outside the domain and fits no cell.

    Yields
    ------
    part : (b, part) bool for each part of the combinations. O(b n q) time in total.

    >>> holds = [np.array([[True, True, False], [False, True, True]])]
    >>> [(_, fit)] = fits(holds, np.array([[0], [1]]), np.array([[0], [1], [3], [-1]]))
    >>> fit.astype(int).tolist()
    [[1, 1, 0, 1], [0, 1, 0, 1]]
    """
    wide = _with_ends(holds)
    step = max(CELLS_AT_ONCE // max(len(boxes), 1), 1)
    for start in range(0, len(positions), step):
        part = slice(start, min(start + step, len(positions)))
        fit = np.ones((len(boxes), part.stop - start), dtype=np.bool_)
        for held, own, values in zip(wide, boxes.T, positions[part].T, strict=True):
            fit &= held[:, values][own]
        yield part, fit


def people_in(
    holds: Sequence[Bits], boxes: Codes, positions: Codes, people: NDArray[Any]
) -> Floats:
    """Return the number of people (b,) of the combinations that fit each leaf.

    `people` (n,) is the number of people of each combination.
    """
    from voile.tables.foreign.kernels import sum_fitting  # imports numba

    order = np.argsort([held.mean() if held.size else 1.0 for held in holds])  # by selectivity
    flat = flatten_columns([_with_ends(holds)[j] for j in order])
    boxes, positions = (np.ascontiguousarray(x[:, order], np.int32) for x in (boxes, positions))
    return sum_fitting(*flat, boxes, positions, people.astype(np.float64))


def flatten_columns(columns: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], Places, Places]:
    """Concatenate the cells of several columns, and return each column's start and width."""
    starts = np.cumsum([0, *(column.size for column in columns)])[:-1].astype(np.int64)
    widths = np.array([column.shape[1] for column in columns], dtype=np.int64)
    return np.concatenate([column.ravel() for column in columns]), starts, widths


def _with_ends(holds: Sequence[Bits]) -> list[Bits]:
    """Append two values to each cell: a value outside the domain, and the unknown value."""
    ends = np.array([[False, True]])
    return [np.hstack([held, np.repeat(ends, len(held), axis=0)]) for held in holds]
