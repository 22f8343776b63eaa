"""Define a tree of nodes, and the nested policies that result from pruning its weakest links."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr

Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]
UNCUT = -1


class BoxExtents(ABC):
    """The values of nodes in each column."""

    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def is_free(self) -> NDArray[np.bool_]:
        """Return a mask (columns,) of the columns without an order."""

    @property
    @abstractmethod
    def bounds(self) -> tuple[Nodes, Nodes]:
        """Return the first and the last position of every node, (boxes, columns), both included.

        In a column without an order, a node may lack some positions in between. See `sets`.
        """

    @property
    @abstractmethod
    def sets(self) -> NDArray[np.int64]:
        """Return the positions of nodes in columns without an order, (boxes, columns), as bits."""

    def find_positions(self, boxes: NDArray[np.integer[Any]], column: int) -> NDArray[np.bool_]:
        """Return the positions of nodes in a column, (boxes, positions) bool."""
        at = np.arange(self.sizes[column])
        if self.is_free[column]:
            return np.asarray(self.sets[boxes, column, None] >> at & 1 == 1)
        low, high = (ends[boxes, column, None] for ends in self.bounds)
        return np.asarray((at >= low) & (at <= high))


@dataclass(frozen=True, eq=False)
class BoxTree(BoxExtents, BriefRepr):
    """A binary tree over a product of domains, stored as arrays of nodes. Node 0 is the root.

    Parameters
    ----------
    sizes : the number of values of each domain.
    column, cut : (boxes,) the column in which a node is split, and the position after which it is.
        For a column without an order, `cut` is the set of the first child's positions, one bit
        each.
    part : (boxes,) the first of a node's two children. The second follows it. -1 for a leaf.
    last : (boxes,) the largest number of pruned links at which a node is still split. Links are
        pruned one by one, so a node is split in the policies of 0 to `last` pruned links. -1 for a
        leaf.
    free : whether each column has no order. Empty if all columns have one.
    """

    sizes: tuple[int, ...]
    column: Nodes
    cut: Nodes
    part: Nodes
    last: Nodes
    free: tuple[bool, ...] = ()

    def __len__(self) -> int:
        return len(self.part)

    def is_cut_after(self, links: int, merged: Sequence[int] = ()) -> NDArray[np.bool_]:
        """Return a mask (boxes,) of the nodes still split after pruning and merging.

        `links` weakest links are pruned, and the nodes in `merged` are not split.
        """
        kept = self.last >= links
        for box in merged:
            kept[box] = False
        if len(merged):
            for box in range(1, len(self)):  # a node comes after its parent
                kept[box] &= kept[self.parents[box]]
        return kept

    def prune_links(self, links: int, merged: Sequence[int] = ()) -> BoxTree:
        """Return the tree after pruning that many links, with nodes renumbered in the same order.

        `merged` are further nodes that are not split.
        """
        kept = self.is_cut_after(links, merged)
        stays = np.ones(len(self), dtype=np.bool_)
        stays[1:] = kept[self.parents[1:]]
        number = np.cumsum(stays) - 1
        cut_still = kept[stays]
        part = np.where(cut_still, number[self.part[stays]], UNCUT).astype(np.int32)
        last = np.where(cut_still, self.last[stays] - links, UNCUT).astype(np.int32)
        column = np.where(cut_still, self.column[stays], UNCUT).astype(np.int32)
        cut = np.where(cut_still, self.cut[stays], 0).astype(np.int32)
        return BoxTree(self.sizes, column, cut, part, last, self.free)

    @property
    def links(self) -> int:
        """Return the number of links that can be pruned."""
        return int(self.last[self.part >= 0].max(initial=UNCUT)) + 1

    @property
    def is_whole(self) -> bool:
        """Return whether each node except the root has an earlier parent that is split inside it.

        Pruning must be nested as well: a child is not split in more policies than its parent.
        """
        is_cut = np.flatnonzero(self.part >= 0)
        one = self.part[is_cut]
        held = np.sort(np.concatenate([[0], one, one + 1]))
        fits = np.array_equal(held, np.arange(len(self))) and bool((one > is_cut).all())
        if not fits or not ((self.column >= 0) == (self.part >= 0)).all():
            return False
        if (self.column >= len(self.sizes)).any() or (self.last[self.part < 0] != UNCUT).any():
            return False
        low, high, sets = self._extents
        at, column = self.cut[is_cut], self.column[is_cut]
        inside = (low[is_cut, column] <= at) & (at < high[is_cut, column])
        whole, of_set = sets[is_cut, column], self.is_free[column]
        inside[of_set] = ((at & whole == at) & (at > 0) & (at < whole))[of_set]
        nested = self.last[self.parents[1:]] >= self.last[1:]
        return bool(inside.all() and nested.all())

    @cached_property
    def parents(self) -> Nodes:
        """Return the parent of each node, (boxes,), or -1 for the root."""
        parents = np.full(len(self), UNCUT, dtype=np.int32)
        is_cut = np.flatnonzero(self.part >= 0)
        parents[self.part[is_cut]] = parents[self.part[is_cut] + 1] = is_cut
        return parents

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """Return the leaves, in order."""
        return np.flatnonzero(self.part < 0)

    @property
    def bounds(self) -> tuple[Nodes, Nodes]:
        return self._extents[:2]

    @property
    def sets(self) -> NDArray[np.int64]:
        return self._extents[2]

    @cached_property
    def widths(self) -> Floats:
        """Return the number of positions of every node, (boxes, columns)."""
        low, high = self.bounds
        bits = np.arange(max(self.sizes) if self.free else 0)
        counted = (self.sets[..., None] >> bits & 1).sum(axis=-1)
        return np.where(self.is_free, counted, high - low + 1).astype(np.float64)

    @cached_property
    def is_free(self) -> NDArray[np.bool_]:
        return np.array(self.free or (False,) * len(self.sizes))

    @cached_property
    def _extents(self) -> tuple[Nodes, Nodes, NDArray[np.int64]]:
        from voile.tables.trees.kernels.place import bounds

        sizes = np.array(self.sizes, dtype=np.int32)
        return bounds(sizes, self.is_free, self.column, self.cut, self.part)

    def place(self, codes: NDArray[np.int32]) -> Nodes:
        """Return the leaf of each row of positions, or -1 for a row with a value outside."""
        from voile.tables.trees.kernels.place import place

        codes = np.ascontiguousarray(codes)
        return place(codes, self.is_free, self.column, self.cut, self.part)

    def add_up(self, codes: NDArray[np.int32], weight: Floats) -> Floats:
        """Return the weight of the rows in each node, (boxes,). Values below 0 may be any value."""
        from voile.tables.trees.kernels.place import add_up

        codes = np.ascontiguousarray(codes)
        return add_up(codes, weight, self.is_free, self.column, self.cut, self.part)
