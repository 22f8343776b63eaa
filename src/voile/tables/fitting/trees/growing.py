"""Grow one tree, and score the nested policies that result from pruning its weakest links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.tables.fitting.trees.ground import TreeGround, TreeGrowth
from voile.tables.fitting.trees.trimming import trim
from voile.tables.scoring.losses import n_log_n
from voile.tables.trees.tree import UNCUT, BoxTree

DIGITS = 13
Nodes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GrownTrees(BriefRepr):
    """Trees and the scores of their policies, pruned together: row i has i pruned links.

    Attributes
    ----------
    trees : one tree for a table. For people by number of rows, one tree for each number. `last`
        then counts links of all trees.
    risk, loss : (policies,) each, the measures for pruning the trees.
    matches : expected matches, relative to the source's.
    distribution, resolution, ncp : see `losses`.
    largest : the largest 1 / g of a leaf with records.
    smallest : the fewest subjects of a leaf with records.
    """

    trees: tuple[BoxTree, ...]
    risk: Floats
    loss: Floats
    matches: Floats
    distribution: Floats
    resolution: Floats
    ncp: Floats
    largest: Floats
    smallest: Floats

    @property
    def tree(self) -> BoxTree:
        """Return the tree of one table."""
        (tree,) = self.trees
        return tree


def grow_tree(ground: TreeGround, growth: TreeGrowth, *, loss_weight: float) -> GrownTrees:
    """Grow one tree, and order its splits by weakest links, exactly for each weight.

    Raises
    ------
    InfeasibleError : one leaf of all people breaks a constraint.

    Cost: O(rows x depth x columns) to grow, and O(n log n) to prune n nodes.
    """
    return grow_trees([ground], growth, loss_weight=loss_weight)


def grow_trees(
    grounds: Sequence[TreeGround], growth: TreeGrowth, *, loss_weight: float
) -> GrownTrees:
    """Grow a tree on each part of a source, and prune all trees by one order of weakest links.

    The parts share the units of their source. Errors and cost are those of `grow_tree`.
    """
    from voile.tables.fitting.trees.kernels.prune import last_cut, weakest_links  # imports numba

    grown = [_grow_boxes(ground, growth) for ground in grounds]
    trees, figures = [tree for tree, _ in grown], np.concatenate([own for _, own in grown])
    units = grounds[0].units
    starts = np.cumsum([0, *(len(tree) for tree in trees)])
    pairs = list(zip(trees, starts.tolist(), strict=False))
    part = np.concatenate([np.where(t.part < 0, UNCUT, t.part + at) for t, at in pairs])
    part = part.astype(np.int32)
    others = (None, None) if (own := grounds[0].measures) is None else own.of_boxes(trees[0])
    n, people, matches, spread, wide, hidden = figures.T
    matches, spread, wide = matches / units.matches, spread * units.spread, wide / units.cells
    risk = matches if others[0] is None else others[0]
    loss = loss_weight * spread + (1 - loss_weight) * hidden if others[1] is None else others[1]
    weight = weakest_links(part, risk, loss)
    goes = np.flatnonzero(np.isfinite(weight))
    goes = goes[np.argsort(weight[goes], kind="stable")]
    last = last_cut(part, weight, goes)
    trees = [replace(t, last=last[at : at + len(t)]) for t, at in pairs]
    above = [np.where(t.parents < 0, UNCUT, t.parents + at) for t, at in pairs]
    life = _BoxLife.of(last, np.concatenate(above), len(goes))
    distribution = units.own * units.spread + life.sum_values(spread) + units.lost
    distribution = np.clip(distribution, 0.0, 1.0)
    resolution = np.clip(life.sum_values(hidden) + units.lost, 0.0, 1.0)
    weighed = loss_weight * distribution + (1 - loss_weight) * resolution
    g = np.maximum(n, people)
    return GrownTrees(
        tuple(trees),
        np.clip(life.sum_values(risk) if others[0] is None else life.round_sums(risk), 0.0, 1.0),
        weighed if others[1] is None else np.clip(life.round_sums(loss), 0.0, 1.0),
        np.clip(life.sum_values(matches), 0.0, 1.0),
        distribution,
        resolution,
        np.clip(life.sum_values(wide) + units.lost, 0.0, 1.0),
        1.0 / life.least(np.where(n > 0, np.maximum(g, 1.0), np.inf)),
        life.least(np.where(n > 0, n, np.inf)),
    )


def _grow_boxes(ground: TreeGround, growth: TreeGrowth) -> tuple[BoxTree, Floats]:
    """Grow a tree without pruning, and return it with the figures of its nodes.

    The figures are: subjects, people, n / g, nats of eq. 4, widths summed over columns, and hidden
    resolution.
    """
    from voile.tables.fitting.trees.kernels.grow import grow  # imports numba

    ground.check()
    column, cut, part, figures = grow(
        ground.people(),
        ground.worth(growth),
        ground.build_allowed(),
        ground.sensitive,
        ground.most_boxes,
    )
    tree = BoxTree(ground.counts.sizes, column, cut, part, np.minimum(part, 0), ground.free)
    if ground.number > 1:
        tree, figures = _trim_tree(ground, tree, figures)
    hidden = figures[:, 5:] @ ground.units.hidden
    return tree, np.column_stack([figures[:, :5], hidden])


def _trim_tree(ground: TreeGround, tree: BoxTree, figures: Floats) -> tuple[BoxTree, Floats]:
    """Trim a tree of records, and recompute the figures of its nodes from their widths."""
    tree, was = trim(tree, ground.counts.codes, ground.number, ground.build_allowed().cuts)
    figures = np.where(was[:, None] < 0, 0.0, figures[was])
    n, widths = figures[:, 0], tree.widths
    figures[:, 3] = n * np.log(widths).sum(axis=1) - n_log_n(n)
    figures[:, 4] = n * ((widths - 1) / (np.array(tree.sizes) - 1)).sum(axis=1)
    return tree, figures


@dataclass(frozen=True)
class _BoxLife:
    """The policies in which each node is a leaf: those with `first` to `last` pruned links."""

    first: Nodes
    last: Nodes
    policies: int

    @classmethod
    def of(cls, last: Nodes, parents: Nodes, links: int) -> _BoxLife:
        """Build it for nodes that are split in policies of up to `last` pruned links."""
        return cls(last + 1, np.where(parents < 0, links, last[parents]), links + 1)

    def sum_values(self, values: Floats) -> Floats:
        """Return the sum over the leaves of each policy."""
        begins = np.bincount(self.first, values, self.policies + 1)
        ends = np.bincount(self.last + 1, values, self.policies + 1)
        return np.asarray(np.cumsum(begins - ends)[: self.policies])

    def round_sums(self, values: Floats) -> Floats:
        """Return the sums of values, rounded so that a sum of 0 is exactly 0."""
        return np.asarray(np.round(self.sum_values(values), DIGITS))

    def least(self, values: Floats) -> Floats:
        """Return the least value over the leaves of each policy.

        A child's value must not exceed its parent's.
        """
        lives = self.first <= self.last
        least = np.full(self.policies, np.inf)
        np.minimum.at(least, self.last[lives], values[lives])
        return np.asarray(np.minimum.accumulate(least[::-1])[::-1])
