"""A grown tree, and the nested family of policies that pruning its weakest links leaves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.tables.trees.ground import Ground, Growth
from voile.tables.trees.kernels.grow import grow
from voile.tables.trees.kernels.place import place
from voile.tables.trees.kernels.prune import last_cut, weakest_links

Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]
UNCUT = -1


@dataclass(frozen=True, eq=False)
class Tree(Brief):
    """Boxes of a product of domains, each cut in two or not; box 0 is the whole.

    Parameters
    ----------
    sizes : values in each domain.
    column, cut : (boxes,) the column that a box is cut in, and after which position.
    part : (boxes,) the first of its two parts, which the other follows; -1 of a box not cut.
    last : (boxes,) with how many links pruned a box is still cut: pruning goes link by link, and
        a box is cut in the policies of 0 to `last` links pruned. -1 of a box not cut.
    """

    sizes: tuple[int, ...]
    column: Nodes
    cut: Nodes
    part: Nodes
    last: Nodes

    def __len__(self) -> int:
        return len(self.part)

    def pruned(self, links: int) -> Tree:
        """Return the tree without what that many links take, boxes renumbered in the same order."""
        kept = self.last >= links
        stays = np.ones(len(self), dtype=np.bool_)
        stays[1:] = kept[self.parents[1:]]
        number = np.cumsum(stays) - 1
        cut_still = kept[stays]
        part = np.where(cut_still, number[self.part[stays]], UNCUT).astype(np.int32)
        last = np.where(cut_still, self.last[stays] - links, UNCUT).astype(np.int32)
        column = np.where(cut_still, self.column[stays], UNCUT).astype(np.int32)
        cut = np.where(cut_still, self.cut[stays], 0).astype(np.int32)
        return Tree(self.sizes, column, cut, part, last)

    @cached_property
    def parents(self) -> Nodes:
        """(boxes,) the box that each is part of; -1 of the whole."""
        parents = np.full(len(self), UNCUT, dtype=np.int32)
        is_cut = np.flatnonzero(self.part >= 0)
        parents[self.part[is_cut]] = parents[self.part[is_cut] + 1] = is_cut
        return parents

    @cached_property
    def leaves(self) -> NDArray[np.intp]:
        """The boxes that are not cut, in order."""
        return np.flatnonzero(self.part < 0)

    @cached_property
    def bounds(self) -> tuple[Nodes, Nodes]:
        """(boxes, columns) first and last position of every box, both included."""
        low = np.zeros((len(self), len(self.sizes)), dtype=np.int32)
        high = np.tile(np.array(self.sizes, dtype=np.int32) - 1, (len(self), 1))
        for box in np.flatnonzero(self.part >= 0):
            one = self.part[box]
            low[one : one + 2], high[one : one + 2] = low[box], high[box]
            high[one, self.column[box]] = self.cut[box]
            low[one + 1, self.column[box]] = self.cut[box] + 1
        return low, high

    def place(self, codes: NDArray[np.int32]) -> Nodes:
        """Return the uncut box of each row of positions; -1 of a row with a value outside."""
        return place(np.ascontiguousarray(codes), self.column, self.cut, self.part)


@dataclass(frozen=True, eq=False)
class Grown(Brief):
    """A tree and what its pruned policies score: row i has i links pruned.

    risk : (policies,) relative risk. distribution, resolution, ncp : see `losses`.
    largest : largest 1 / g of a box. smallest : fewest subjects of a box.
    """

    tree: Tree
    risk: Floats
    distribution: Floats
    resolution: Floats
    ncp: Floats
    largest: Floats
    smallest: Floats

    def loss(self, loss_weight: float) -> Floats:
        """Return the loss that weighs the two."""
        return loss_weight * self.distribution + (1 - loss_weight) * self.resolution


def grow_tree(ground: Ground, growth: Growth, *, loss_weight: float) -> Grown:
    """Grow one tree and order its cuts by weakest links, exact for each weight within the tree.

    Raises
    ------
    InfeasibleError : one box of all breaks a constraint.

    Cost: O(rows x depth x columns) to grow, O(n log n) to prune, n the boxes.
    """
    ground.check()
    column, cut, part, figures = grow(
        ground.people(), ground.worth(growth), ground.allowed(), ground.sensitive, ground.most_boxes
    )
    risk = figures[:, 2] / ground.matches
    spread = figures[:, 3] * ground.spread_unit
    wide = figures[:, 4] / (ground.counts.subjects * len(ground.counts.sizes))
    hidden = figures[:, 5:] @ ground.hidden_units
    loss = loss_weight * spread + (1 - loss_weight) * hidden
    weight = weakest_links(part, risk, loss)
    goes = np.flatnonzero(np.isfinite(weight))
    goes = goes[np.argsort(weight[goes], kind="stable")]
    last = last_cut(part, weight, goes)
    tree = Tree(ground.counts.sizes, column, cut, part, last)
    life = _Life.of(tree, len(goes))
    return Grown(
        tree,
        np.clip(life.summed(risk), 0.0, 1.0),
        np.clip(ground.own * ground.spread_unit + life.summed(spread), 0.0, 1.0),
        np.clip(life.summed(hidden), 0.0, 1.0),
        np.clip(life.summed(wide), 0.0, 1.0),
        1.0 / life.least(np.maximum(figures[:, :2].max(axis=1), 1.0)),
        life.least(figures[:, 0]),
    )


@dataclass(frozen=True)
class _Life:
    """In which policies each box stands uncut: those of `first` to `last` links pruned."""

    first: Nodes
    last: Nodes
    policies: int

    @classmethod
    def of(cls, tree: Tree, links: int) -> _Life:
        last = np.concatenate(([links], tree.last[tree.parents[1:]]))
        return cls(tree.last + 1, last, links + 1)

    def summed(self, values: Floats) -> Floats:
        """Return the sum over the uncut boxes of each policy."""
        begins = np.bincount(self.first, values, self.policies + 1)
        ends = np.bincount(self.last + 1, values, self.policies + 1)
        return np.asarray(np.cumsum(begins - ends)[: self.policies])

    def least(self, values: Floats) -> Floats:
        """Return the least of the uncut boxes of each policy, where parts have less than wholes."""
        lives = self.first <= self.last
        least = np.full(self.policies, np.inf)
        np.minimum.at(least, self.last[lives], values[lives])
        return np.asarray(np.minimum.accumulate(least[::-1])[::-1])
