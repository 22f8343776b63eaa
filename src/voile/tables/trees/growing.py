"""Grow one tree, and score the nested family that pruning its weakest links leaves."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.tables.trees.ground import Ground, Growth
from voile.tables.trees.tree import Tree

DIGITS = 13
Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grown(Brief):
    """A tree and what its pruned policies score: row i has i links pruned.

    risk, loss : (policies,) each, what the tree is pruned by.
    matches : expected ones, relative to the source's. distribution, resolution, ncp : see `losses`.
    largest : largest 1 / g of a box. smallest : fewest subjects of a box. Of boxes with records.
    """

    tree: Tree
    risk: Floats
    loss: Floats
    matches: Floats
    distribution: Floats
    resolution: Floats
    ncp: Floats
    largest: Floats
    smallest: Floats


def grow_tree(ground: Ground, growth: Growth, *, loss_weight: float) -> Grown:
    """Grow one tree and order its cuts by weakest links, exact for each weight within the tree.

    Raises
    ------
    InfeasibleError : one box of all breaks a constraint.

    Cost: O(rows x depth x columns) to grow, O(n log n) to prune, n the boxes.
    """
    from voile.tables.trees.kernels.grow import grow  # loads numba
    from voile.tables.trees.kernels.prune import last_cut, weakest_links

    ground.check()
    column, cut, part, figures = grow(
        ground.people(), ground.worth(growth), ground.allowed(), ground.sensitive, ground.most_boxes
    )
    matches = figures[:, 2] / ground.matches
    spread = figures[:, 3] * ground.spread_unit
    wide = figures[:, 4] / (ground.counts.subjects * len(ground.counts.sizes))
    hidden = figures[:, 5:] @ ground.hidden_units
    whole = Tree(ground.counts.sizes, column, cut, part, np.minimum(part, 0), ground.free)
    others = (None, None) if ground.measures is None else ground.measures.of_boxes(whole)
    risk = matches if others[0] is None else others[0]
    loss = loss_weight * spread + (1 - loss_weight) * hidden if others[1] is None else others[1]
    weight = weakest_links(part, risk, loss)
    goes = np.flatnonzero(np.isfinite(weight))
    goes = goes[np.argsort(weight[goes], kind="stable")]
    tree = replace(whole, last=last_cut(part, weight, goes))
    life = _Life.of(tree, len(goes))
    distribution = np.clip(ground.own * ground.spread_unit + life.summed(spread), 0.0, 1.0)
    resolution = np.clip(life.summed(hidden), 0.0, 1.0)
    weighed = loss_weight * distribution + (1 - loss_weight) * resolution
    n, g = figures[:, 0], figures[:, :2].max(axis=1)
    return Grown(
        tree,
        np.clip(life.summed(risk) if others[0] is None else life.rounded(risk), 0.0, 1.0),
        weighed if others[1] is None else np.clip(life.rounded(loss), 0.0, 1.0),
        np.clip(life.summed(matches), 0.0, 1.0),
        distribution,
        resolution,
        np.clip(life.summed(wide), 0.0, 1.0),
        1.0 / life.least(np.where(n > 0, np.maximum(g, 1.0), np.inf)),
        life.least(np.where(n > 0, n, np.inf)),
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

    def rounded(self, values: Floats) -> Floats:
        """Return the same of what may sum to 0, exactly 0 then."""
        return np.asarray(np.round(self.summed(values), DIGITS))

    def least(self, values: Floats) -> Floats:
        """Return the least of the uncut boxes of each policy, where parts have less than wholes."""
        lives = self.first <= self.last
        least = np.full(self.policies, np.inf)
        np.minimum.at(least, self.last[lives], values[lives])
        return np.asarray(np.minimum.accumulate(least[::-1])[::-1])
