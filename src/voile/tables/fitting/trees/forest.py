"""Grow several trees, each with its nested policies, and compute their joint frontier."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.frontier import Frontier
from voile.tables.fitting.trees.ground import TreeGround, TreeGrowth
from voile.tables.fitting.trees.growing import GrownTrees, grow_trees
from voile.tables.trees.tree import BoxTree

Floats = NDArray[np.float64]

FIGURES = ("matches", "largest", "distribution", "resolution", "ncp")
GROWN = 4_000_000
"""The sample's rows times columns that all trees together may use, unless two trees need more."""
APART = 2e-4
"""The least difference in loss of two policies of a forest. Closer ones are equal to a user."""


def growths(loss_weight: float) -> tuple[TreeGrowth, ...]:
    """Return how the trees of a forest are grown: for several weights, and kinds of loss.

    The weights are slopes that occur on frontiers. A tree grown for one weight serves the risks
    near it best. At higher risks, eq. 4 guides growing better than the loss itself, at first or all
    the way down.
    """
    ours = [TreeGrowth(weight, loss_weight, loss_weight) for weight in (1.0, 8.0, 64.0, 512.0)]
    mixed = [TreeGrowth(4.0, 1.0, loss_weight), TreeGrowth(4.0, 1.0, loss_weight, large=20.0)]
    even = [TreeGrowth(1.0, 1.0, 1.0), TreeGrowth(1.0, (1 + loss_weight) / 2, loss_weight)]
    return tuple(dict.fromkeys([*ours, *mixed, *even]))


def plan_growths(grounds: Sequence[TreeGround], loss_weight: float) -> tuple[TreeGrowth, ...]:
    """Return all of `growths`, or as many as `GROWN` allows, starting with the most useful.

    If every split adds the same risk, as without a population, trees of different weights are
    identical. Only one of them is then grown. At least two trees are grown: one guided by the loss,
    and one by eq. 4.
    """
    plan = growths(loss_weight)
    size = sum(ground.size for ground in grounds)
    if size * len(plan) <= GROWN:
        return plan
    ranked = (
        TreeGrowth(8.0, loss_weight, loss_weight),
        TreeGrowth(1.0, 1.0, 1.0),
        TreeGrowth(512.0, loss_weight, loss_weight),
        TreeGrowth(4.0, 1.0, loss_weight, large=20.0),
        TreeGrowth(1.0, (1 + loss_weight) / 2, loss_weight),
        *plan,
    )
    different = list(dict.fromkeys(growth for growth in ranked if growth in plan))
    if all(ground.risk_counts_boxes for ground in grounds):
        kinds = {(growth.coarse, growth.fine, growth.large): growth for growth in different[::-1]}
        different = [growth for growth in different if growth in kinds.values()]
    return tuple(different[: max(2, GROWN // size)])


@dataclass(frozen=True, eq=False)
class PolicyForest(BriefRepr):
    """Trees, and the frontier of their policies.

    Parameters
    ----------
    trees : the trees with a policy on the frontier. With several grounds, each has one tree for
        each ground, and these are consecutive.
    frontier : the frontier, with policies as rows (tree, links pruned).
    figures : (policies,) each: `matches` relative to the source's, `largest` 1 / g of a record,
        `distribution`, `resolution`, `ncp`.
    stopped : ``finished``, or ``seconds`` if the time limit was reached before all trees were
        grown.
    """

    trees: tuple[BoxTree, ...]
    frontier: Frontier
    figures: Mapping[str, Floats]
    evaluations: int
    stopped: str


def grow_forest(
    ground: TreeGround | Sequence[TreeGround],
    *,
    loss_weight: float,
    plan: Sequence[TreeGrowth] | None = None,
    seconds: float | None = None,
    progress: Callable[[int, int], None] = lambda grown, of_all: None,
) -> PolicyForest:
    """Grow several trees, and join their policies to one frontier.

    With several grounds, the parts of a source, each policy has one tree for each ground.

    Raises
    ------
    InfeasibleError : one leaf of all people breaks a constraint.
    RequestError : the constraints have split points that every policy must keep.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    grounds = [ground] if isinstance(ground, TreeGround) else ground
    plan = plan_growths(grounds, loss_weight) if plan is None else plan
    grown: list[GrownTrees] = []
    for growth in plan:
        if grown and deadline is not None and time.monotonic() >= deadline:
            break
        grown.append(grow_trees(grounds, growth, loss_weight=loss_weight))
        progress(len(grown), len(plan))
    stopped = "finished" if len(grown) == len(plan) else "seconds"
    return _join_trees(grown, stopped)


def _join_trees(grown: Sequence[GrownTrees], stopped: str) -> PolicyForest:
    sizes = [len(one.risk) for one in grown]
    policies = np.column_stack(
        [np.repeat(np.arange(len(grown)), sizes), np.concatenate([np.arange(s) for s in sizes])]
    ).astype(np.int32)
    risk = np.concatenate([one.risk for one in grown])
    loss = np.concatenate([one.loss for one in grown])
    whole = Frontier.of(risk, loss, policies)
    kept = _apart(whole.loss)
    frontier = Frontier.of(whole.risk[kept], whole.loss[kept], whole.policies[kept])
    own, links = frontier.policies.T
    used, number = np.unique(own, return_inverse=True)
    # splits that no policy of the frontier has are dropped
    least = np.array([links[own == tree].min() for tree in used], dtype=np.int32)
    members = np.column_stack([number, links - least[number]]).astype(np.int32)
    return PolicyForest(
        tuple(
            tree.prune_links(int(n))
            for number, n in zip(used, least, strict=True)
            for tree in grown[number].trees
        ),
        Frontier.of(frontier.risk, frontier.loss, members),
        {
            name: np.array([getattr(grown[t], name)[at] for t, at in zip(own, links, strict=True)])
            for name in FIGURES
        },
        int(sum(sizes)),
        stopped,
    )


def _apart(loss: Floats) -> NDArray[np.intp]:
    """Return the points of a decreasing loss to keep: each at least `APART` below the one before.

    The last point, with the least loss, is always kept.
    """
    kept = [0] if len(loss) else []
    for point in range(1, len(loss)):
        if loss[kept[-1]] - loss[point] >= APART:
            kept.append(point)
    if kept and kept[-1] != len(loss) - 1:
        kept[-1 if len(kept) > 1 else len(kept) :] = [len(loss) - 1]
    return np.array(kept, dtype=np.intp)
