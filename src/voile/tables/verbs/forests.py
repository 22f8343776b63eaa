"""Trees of a fit: which table and constraints they are grown on, and when they cannot be."""

from __future__ import annotations

import numpy as np

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.core.progress import Progress
from voile.tables.policies.family import Family, join
from voile.tables.policies.space import PolicySpace
from voile.tables.scoring.group_measures import Spread, Weighted, matches
from voile.tables.scoring.policy_figures import PolicyFigures
from voile.tables.trees.estimating import CountedPeople
from voile.tables.trees.forest import Forest, grow_forest
from voile.tables.trees.ground import Diversity, Ground


def loss_weight_of(space: PolicySpace) -> float:
    """Return what distribution counts in the loss of a space; resolution counts the rest."""
    return space.weights.loss_weight if isinstance(space.loss.each, Weighted) else 1.0


def refuse_trees(space: PolicySpace) -> None:
    """Raise `RequestError` where trees cannot make small what was asked for."""
    ours = isinstance(space.loss.each, (Spread, Weighted))
    ours &= space.risk == matches() or space.estimates
    if not ours:
        raise RequestError(
            f"trees know the risk matches and the loss of distribution and resolution, not "
            f"{space.risk.name} and {space.loss.name}",
            instead="take --family global",
        )
    required = space.constraints.required
    if required is not None and required.any():
        raise RequestError(
            "cuts that every policy must keep are asked for, and trees keep none everywhere",
            instead="take --family global, or leave them out",
        )


def ground_of(space: PolicySpace) -> Ground:
    """Return what trees are grown on.

    The population places cuts where the sample has gaps if tables alone count it.
    """
    population, rules = space.population, space.constraints
    columns = space.counts.by_column(space.counts.sensitive) if rules.diverse else ()
    return Ground(
        space.counts,
        rules,
        tuple(
            Diversity(own, rules.l_diversity, rules.entropy_l, rules.t_closeness, ordered)
            for own, ordered in columns
        ),
        tuple(domain.nullable for domain in space.domains),
        public=population.known and not population.assumptions,
        importance=space.weights.importance,
        counted=_counted(space),
    )


def _counted(space: PolicySpace) -> CountedPeople | None:
    """Return whom tables count by some columns, where risk is estimated from these."""
    boxes = space.population.boxes
    if not space.estimates or boxes is None:
        return None
    return CountedPeople.of(space.counts, space.quasi, boxes)


def grow(space: PolicySpace, progress: Progress) -> Forest:
    """Grow the trees of a fit."""
    refuse_trees(space)
    return grow_forest(
        ground_of(space),
        loss_weight=loss_weight_of(space),
        progress=lambda scored: progress("growing trees", scored),
    )


def joined(
    space: PolicySpace, found: Frontier | None, forest: Forest | None
) -> tuple[Frontier, Family, PolicyFigures]:
    """Return one frontier of what was found and grown, its policies, and their figures."""
    found = _none(space) if found is None else found
    grown = Frontier.of([], [], np.zeros((0, 2), np.int32)) if forest is None else forest.frontier
    frontier, family = join(space.domains, found, grown, () if forest is None else forest.trees)
    own = family.is_global
    of_bits = vars(space.evaluator.figures(family.bits[family.members[own, 1]]))
    figures = {name: np.zeros(len(family)) for name in of_bits}
    for name, values in of_bits.items():
        figures[name][own] = values
    if forest is not None:
        number = {tuple(row): i for i, row in enumerate(grown.policies.tolist())}
        at = [number[tuple(row)] for row in family.members[~own].tolist()]
        of_trees = dict(forest.figures)
        of_trees["expected_matches"] = of_trees.pop("matches") * space.evaluator.matches
        for name, values in of_trees.items():
            figures[name][~own] = values[at]
    return frontier, family, PolicyFigures(**figures)


def _none(space: PolicySpace) -> Frontier:
    return Frontier.of([], [], np.zeros((0, space.n_bits), dtype=np.bool_))
