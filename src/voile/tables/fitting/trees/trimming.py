"""Trim the leaves of records in the columns of a person's other rows.

A split of one row's column often divides the same column of the person's other rows as well, such
as sex or year of birth. The growing kernel splits only where both sides have people, so the labels
of other rows would stay wide. This module splits off their empty side, a part of the leaf without
records.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from voile.tables.trees.tree import UNCUT, BoxTree

Codes = NDArray[np.int32]
Bits = NDArray[np.bool_]
Places = NDArray[np.int64]
NOBODY = -1


def trim(tree: BoxTree, codes: Codes, number: int, allowed: Bits) -> tuple[BoxTree, Places]:
    """Split empty sides off the nodes of a tree of records, and return each node's original node.

    Parameters
    ----------
    codes : (records, number x columns) the records on which the tree was grown.
    allowed : the allowed splits, see `AllowedBoxes.cuts`.

    After each split, the same column of the person's other rows is split at the same value if one
    side is empty. It is then halved until both halves have records, or until it is as narrow as the
    split column. No boundary therefore depends on one record's value. A node without a record has
    the original -1.

    Cost: O(records x depth x number), and one step in Python for each node.
    """
    made = _MadeBoxes(tree, np.cumsum([0, *tree.sizes]), allowed)
    columns = len(tree.sizes) // number
    whole = tree.bounds[0][0], tree.bounds[1][0], tree.sets[0]
    ahead = [(0, made.add(0), np.arange(len(codes)), _BoxExtent(*(one.copy() for one in whole)))]
    while ahead:
        box, at, records, extent = ahead.pop()
        if tree.part[box] < 0:
            continue
        j, cut = int(tree.column[box]), int(tree.cut[box])
        others = [i for i in range(j % columns, len(tree.sizes), columns) if i != j]
        sides = extent.goes_left(codes[records, j], j, cut, free=bool(tree.is_free[j]))
        first = made.cut_box(at, j, cut, (int(tree.part[box]), int(tree.part[box]) + 1))
        for side, own in enumerate((records[sides], records[~sides])):
            part = extent.part(j, cut, side, free=bool(tree.is_free[j]))
            place = first + side
            for other in others:
                place = made.narrow(place, part, codes[own, other], (j, other), cut)
            ahead.append((int(tree.part[box]) + side, place, own, part))
    return made.tree(), np.array(made.was, dtype=np.int64)


@dataclass
class _BoxExtent:
    """The first and last position of one node in each column, and its sets of values."""

    low: Codes
    high: Codes
    sets: Places

    @staticmethod
    def goes_left(values: Codes, column: int, cut: int, *, free: bool) -> Bits:
        """Return a mask of the values in the first child of a split."""
        return np.asarray((cut >> values.astype(np.int64)) & 1 == 1 if free else values <= cut)

    def part(self, column: int, cut: int, side: int, *, free: bool) -> _BoxExtent:
        """Return one of the two children of a split."""
        found = _BoxExtent(self.low.copy(), self.high.copy(), self.sets.copy())
        if free:
            found.sets[column] &= ~np.int64(cut) if side else np.int64(cut)
        elif side:
            found.low[column] = cut + 1
        else:
            found.high[column] = cut
        return found


@dataclass
class _MadeBoxes:
    """The nodes of the trimmed tree so far."""

    grown: BoxTree
    start: Places
    allowed: Bits
    column: list[int] = field(default_factory=list)
    at: list[int] = field(default_factory=list)
    part: list[int] = field(default_factory=list)
    was: list[int] = field(default_factory=list)

    def add(self, was: int) -> int:
        """Add a leaf, and return its number."""
        for cells, value in zip(
            (self.column, self.at, self.part, self.was), (UNCUT, 0, UNCUT, was), strict=True
        ):
            cells.append(value)
        return len(self.was) - 1

    def cut_box(self, box: int, column: int, at: int, was: tuple[int, int]) -> int:
        """Split a node, and return the first of its children."""
        self.column[box], self.at[box], self.part[box] = column, at, self.add(was[0])
        self.add(was[1])
        return self.part[box]

    def narrow(
        self, box: int, extent: _BoxExtent, values: Codes, columns: tuple[int, int], cut: int
    ) -> int:
        """Split empty sides off a node in the second column, and return the remaining node.

        The splits follow the split of the first column.
        """
        own, other = columns
        if self.grown.is_free[other]:
            inside = cut & int(extent.sets[other])
            proper = 0 < inside < int(extent.sets[other])
            return self._keep(box, extent, values, other, inside) if proper else box
        if extent.low[other] <= cut < extent.high[other]:
            box = self._keep(box, extent, values, other, cut)
        while extent.high[other] - extent.low[other] > extent.high[own] - extent.low[own]:
            half = (int(extent.low[other]) + int(extent.high[other])) // 2
            kept = self._keep(box, extent, values, other, half)
            if kept == box:
                break
            box = kept
        return box

    def _keep(self, box: int, extent: _BoxExtent, values: Codes, column: int, cut: int) -> int:
        """Split a node if one side is empty, and return the other side, or else the node."""
        free = bool(self.grown.is_free[column])
        left = extent.goes_left(values, column, cut, free=free)
        if (left.any() and not left.all()) or not self.allowed[self.start[column] + cut] | free:
            return box
        side, was = int(not left.any()), self.was[box]
        first = self.cut_box(box, column, cut, (NOBODY, was) if side else (was, NOBODY))
        narrower = extent.part(column, cut, side, free=free)
        extent.low, extent.high, extent.sets = narrower.low, narrower.high, narrower.sets
        return first + side

    def tree(self) -> BoxTree:
        """Return the nodes as a tree, without pruning."""
        column, cut, part = (
            np.array(cells, dtype=np.int32) for cells in (self.column, self.at, self.part)
        )
        last = np.minimum(part, 0)
        return replace(self.grown, column=column, cut=cut, part=part, last=last)
