"""Grow the trees of a fit: their table and constraints, and the conditions for growing them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.core.progress import ProgressHook
from voile.tables.fitting.space import PolicySpace
from voile.tables.fitting.trees.estimating import CountedPeople
from voile.tables.fitting.trees.forest import PolicyForest, grow_forest
from voile.tables.fitting.trees.ground import BoxDiversity, TreeGround
from voile.tables.fitting.trees.measuring import BoxMeasures
from voile.tables.policies.family import PolicyFamily, join
from voile.tables.scoring.group_measures import EvenSpread, WeightedLoss, matches
from voile.tables.scoring.losses import PolicyFigures


def loss_weight_of(space: PolicySpace) -> float:
    """Return the weight of distribution in the loss for growing trees.

    The remaining weight is that of resolution.
    """
    return 1.0 if isinstance(space.loss.each, EvenSpread) else space.weights.loss_weight


def refuse_trees(space: PolicySpace) -> None:
    """Raise `RequestError` if trees cannot meet the requested constraints."""
    required = space.constraints.required
    if required is not None and required.any():
        raise RequestError(
            "cuts that every policy must keep are asked for, and trees keep none everywhere",
            instead="take --family global, or leave them out",
        )


def ground_of(space: PolicySpace) -> TreeGround:
    """Return the ground on which trees are grown.

    If the counts of the population come from tables only, the population determines the position of
    splits in the sample's gaps.
    """
    population, rules = space.population, space.constraints
    columns = space.counts.by_column(space.counts.sensitive) if rules.diverse else ()
    return TreeGround(
        space.counts,
        rules,
        tuple(
            BoxDiversity(own, rules.l_diversity, rules.entropy_l, rules.t_closeness, ordered)
            for own, ordered in columns
        ),
        tuple(domain.nullable for domain in space.domains),
        public=population.known and not population.assumptions,
        importance=space.weights.importance,
        measures=_measures(space),
        free=tuple(domain.free for domain in space.domains),
    )


def _measures(space: PolicySpace) -> BoxMeasures | None:
    """Return the additional measures for pruning trees, or None."""
    risk = None if space.risk == matches() else space.risk
    loss = None if isinstance(space.loss.each, (EvenSpread, WeightedLoss)) else space.loss
    if risk is None and loss is None:
        return None
    boxes, counted = space.population.boxes, None
    if space.estimates and boxes is not None:
        counted = CountedPeople.of(space.counts, space.quasi, boxes)
    return BoxMeasures(space.counts, risk, loss, space.evaluator.units[:2], counted)


def grow(space: PolicySpace, progress: ProgressHook) -> PolicyForest:
    """Grow the trees of a fit."""
    from voile.tables.fitting.trees.kernels.grow import grow as kernel  # imports numba

    refuse_trees(space)
    announce_compiling(progress, kernel, "growing trees")
    return grow_forest(
        ground_of(space),
        loss_weight=loss_weight_of(space),
        progress=lambda grown, of_all: progress("growing trees", grown, of_all),
    )


def announce_compiling(progress: ProgressHook, kernel: Callable[..., object], task: str) -> None:
    """Report the start of a task, and that its kernels must be compiled first, if so."""
    from voile.core.compiled import is_kept  # imports numba

    progress(task if is_kept(kernel) else f"compiling once, about 30 s, and {task}", 0)


def join_frontiers(
    space: PolicySpace,
    found: Frontier | None,
    forest: PolicyForest | None,
    *,
    numbers: tuple[int, ...] = (),
    matches: float | None = None,
) -> tuple[Frontier, PolicyFamily, PolicyFigures]:
    """Return the joint frontier of searched and grown policies, its policies, and their figures.

    Parameters
    ----------
    numbers, matches : for trees of records, the numbers of rows, and the source's expected matches.
    """
    found = _none(space) if found is None else found
    grown = Frontier.of([], [], np.zeros((0, 2), np.int32)) if forest is None else forest.frontier
    trees = () if forest is None else forest.trees
    frontier, family = join(space.domains, found, grown, trees, numbers)
    own = family.is_global
    figures = {field.name: np.zeros(len(family)) for field in fields(PolicyFigures)}
    if own.any():
        of_bits = space.evaluator.figures(family.bits[family.members[own, 1]])
        for name, values in vars(of_bits).items():
            figures[name][own] = values
    if forest is not None:
        number = {tuple(row): i for i, row in enumerate(grown.policies.tolist())}
        at = [number[tuple(row)] for row in family.members[~own].tolist()]
        of_trees = dict(forest.figures)
        unit = space.evaluator.matches if matches is None else matches
        of_trees["expected_matches"] = of_trees.pop("matches") * unit
        for name, values in of_trees.items():
            figures[name][~own] = values[at]
    return frontier, family, PolicyFigures(**figures)


def _none(space: PolicySpace) -> Frontier:
    return Frontier.of([], [], np.zeros((0, space.n_bits), dtype=np.bool_))
