"""Grow one tree, and score the nested family that pruning its weakest links leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.tables.trees.ground import Ground, Growth
from voile.tables.trees.kernels.grow import grow
from voile.tables.trees.kernels.prune import last_cut, weakest_links
from voile.tables.trees.tree import Tree

Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grown(Brief):
    """A tree and what its pruned policies score: row i has i links pruned.

    risk : (policies,) relative risk, estimated where the ground has `counted`.
    matches : the same by the groups' own g. distribution, resolution, ncp : see `losses`.
    largest : largest 1 / g of a box. smallest : fewest subjects of a box.
    """

    tree: Tree
    risk: Floats
    matches: Floats
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
    matches = figures[:, 2] / ground.matches
    risk = matches
    if ground.counted is not None:
        risk = ground.counted.matches(figures[:, 0], column, cut, part) / ground.matches
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
        np.clip(life.summed(matches), 0.0, 1.0),
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
