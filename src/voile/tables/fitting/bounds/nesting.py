"""Choose the nested attribute, and list the partitions of all attributes except the two largest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.fitting.kernels.cells import LatticeCells

if TYPE_CHECKING:
    from voile.tables.fitting.kernels.nested import NestedCells
    from voile.tables.fitting.scoring.evaluator import Policies

MOST = 2**12
WHOLE = 2**22
Bits = NDArray[np.bool_]
Box = tuple[tuple[int, int], ...]


@dataclass(frozen=True, eq=False)
class LatticeNesting:
    """A lattice in the form of the nested kernel, with the policies of its partitions.

    Attributes
    ----------
    nest : the kernel's input.
    last : (outer values,) the last value of the longest outer interval from each value that crosses
        no required split point.
    subjects : (outer values,) the subjects of each outer value.
    combos : (combos, n_bits) the partitions of the other attributes, as policies.
    outer, inner : the bits of the second largest and of the largest attribute.
    """

    nest: NestedCells
    last: NDArray[np.int64]
    subjects: NDArray[np.float64]
    combos: Policies
    outer: slice
    inner: slice

    @classmethod
    def of(cls, cells: LatticeCells, required: Bits) -> LatticeNesting:
        """Choose the nesting, and list the partitions that keep the required split points."""
        from voile.tables.fitting.kernels.nested import NestedCells

        refuse_too_many(cells.sizes, required)
        sizes = [int(size) for size in cells.sizes]
        ends = list(itertools.accumulate(sizes, initial=0))
        bits = _places(sizes)
        inner, *others = _by_size(sizes)
        outer, rest = (others[0] if others else None), sorted(others[1:])
        boxes, combos = _boxes([list(_partitions(required[bits[d]])) for d in rest])
        widths = [cells.widths[ends[d] : ends[d + 1]] for d in range(len(sizes))]
        rest_sizes = tuple(sizes[d] for d in rest)
        value = np.zeros(len(cells.codes), np.int64) if outer is None else cells.codes[:, outer]
        order = np.argsort(value, kind="stable")
        codes, values = cells.codes[order], 1 if outer is None else sizes[outer]
        place = np.zeros(len(codes), dtype=np.int64)
        if rest:
            place[:] = np.ravel_multi_index([codes[:, d] for d in rest], rest_sizes)
        n = _pad_cells(cells.n, len(codes))[order]
        nest = NestedCells(
            np.searchsorted(value[order], np.arange(values + 1)),
            codes[:, inner].astype(np.int64),
            place,
            n,
            _pad_cells(cells.own, len(codes))[order],
            cells.p[order],
            _pad_cells(cells.values, len(codes))[order],
            np.ones(1, np.int64) if outer is None else widths[outer],
            widths[inner],
            _last(required[bits[inner]]),
            *_rows(_holding(boxes, rest_sizes)),
            _log_widths(boxes, [widths[d] for d in rest]),
            *_rows(combos),
            _table(n),
        )
        none = slice(0, 0)
        return cls(
            nest=nest,
            last=_last(required[none if outer is None else bits[outer]]),
            subjects=np.bincount(value, _pad_cells(cells.n, len(codes)), values).astype(np.float64),
            combos=_as_policies(combos, boxes, [bits[d] for d in rest], len(required)),
            outer=none if outer is None else bits[outer],
            inner=bits[inner],
        )


def _by_size(sizes: Sequence[int]) -> list[int]:
    return sorted(range(len(sizes)), key=lambda d: -sizes[d])


def _places(sizes: Sequence[int]) -> list[slice]:
    ends = list(itertools.accumulate((size - 1 for size in sizes), initial=0))
    return [slice(*pair) for pair in itertools.pairwise(ends)]


def refuse_too_many(sizes: Iterable[int], required: Bits) -> None:
    """Raise an error if all attributes except the two largest have too many partitions."""
    whole = [int(size) for size in sizes]
    rest, places = _by_size(whole)[2:], _places(whole)
    free = sum(int((~required[places[d]]).sum()) for d in rest)
    boxes = math.prod(whole[d] * (whole[d] + 1) // 2 for d in rest)
    if free > math.log2(MOST) or boxes > MOST:
        raise RequestError(
            f"all attributes but the two largest have 2^{free} partitions and {boxes:,} products "
            f"of intervals, too many to go through for a bound: {MOST:,} of each at most",
            instead="require or forbid some of their cuts, or use coarser domains for them",
        )


def _partitions(required: Bits) -> Iterable[Box]:
    """Yield the partitions of one attribute that keep the required split points.

    Each partition is a tuple of intervals (begin, end).
    """
    for bits in itertools.product(*([True] if cut else [False, True] for cut in required)):
        edges = [0, *(np.flatnonzero(bits) + 1).tolist(), len(required) + 1]
        yield tuple(itertools.pairwise(edges))


def _boxes(parts: Sequence[Sequence[Box]]) -> tuple[list[Box], list[list[int]]]:
    """Return the products of intervals, and the products in each combination of partitions."""
    boxes: dict[Box, int] = {}
    combos = [
        [boxes.setdefault(box, len(boxes)) for box in itertools.product(*combo)]
        for combo in itertools.product(*parts)
    ]
    return list(boxes), combos


def _holding(boxes: Sequence[Box], sizes: tuple[int, ...]) -> list[list[int]]:
    """Return the boxes that contain each combination of the other attributes' values."""
    holding: list[list[int]] = [[] for _ in range(math.prod(sizes))]
    for number, box in enumerate(boxes):
        for values in itertools.product(*(range(begin, end) for begin, end in box)):
            holding[int(np.ravel_multi_index(values, sizes)) if sizes else 0].append(number)
    return holding


def _log_widths(boxes: Sequence[Box], widths: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    return np.array(
        [
            sum(
                math.log(width[begin:end].sum())
                for width, (begin, end) in zip(widths, box, strict=True)
            )
            for box in boxes
        ],
        dtype=np.float64,
    )


def _as_policies(
    combos: Sequence[Sequence[int]], boxes: Sequence[Box], bits: Sequence[slice], n_bits: int
) -> Policies:
    rows = np.zeros((len(combos), n_bits), dtype=np.bool_)
    for row, combo in zip(rows, combos, strict=True):
        for number in combo:
            for place, (begin, _) in zip(bits, boxes[number], strict=True):
                if begin > 0:
                    row[place.start + begin - 1] = True
    return rows


def _last(required: Bits) -> NDArray[np.int64]:
    """Return the last value of the longest interval from each value without a required split."""
    cuts = np.append(np.flatnonzero(required), len(required))
    last: NDArray[np.int64] = cuts[np.searchsorted(cuts, np.arange(len(required) + 1))]
    return last


def _rows(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows of different lengths in CSR form: start positions, and concatenated values."""
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return start, np.array([x for row in rows for x in row], dtype=np.int64)


def _pad_cells(values: NDArray, cells: int) -> NDArray:  # type: ignore[type-arg]
    """Append zeros for the cells without subjects."""
    more = np.zeros((cells - len(values), *values.shape[1:]), dtype=values.dtype)
    return np.concatenate([values, more])


def _table(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table of n log n for all sums of subjects, or an empty one.

    It is empty if the subjects are not whole numbers, or are too many.
    """
    if n.sum() > WHOLE or (n != np.round(n)).any():
        return np.zeros(0)
    whole = np.arange(n.sum() + 1)
    return whole * np.log(np.maximum(whole, 1))
