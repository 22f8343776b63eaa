"""Small tables to grow trees on, and what a box counts, from the definitions."""

from __future__ import annotations

import math

import numpy as np

from voile.tables.fitting.trees.ground import BoxDiversity, TreeGround, TreeGrowth
from voile.tables.people.counts import CombinationCounts, Constraints

GROWTHS = (
    TreeGrowth(0.5, 0.5, 0.5),
    TreeGrowth(8.0, 1.0, 0.3, large=6.0),
    TreeGrowth(0.0, 0.0, 1.0),
)


def small_ground(seed, *, sizes=(5, 2, 4), limited=True, empty=False):
    """Make a table of a few people from a seed: fractions, people outside, sensitive values."""
    rng = np.random.default_rng(seed)
    cells = np.stack(np.unravel_index(np.arange(math.prod(sizes)), sizes), axis=1)
    cells = cells[np.sort(rng.permutation(len(cells))[: rng.integers(2, len(cells) + 1)])]
    sample = rng.integers(0, 5, len(cells)) * rng.choice([1.0, 1.0, 0.5], len(cells))
    sample[0] += 1
    kind = rng.integers(0, 3)  # a census, none, or a sampling fraction
    people = sample + rng.integers(0, 9, len(cells)) if kind == 0 else sample * (kind * 3.0 - 2)
    values = sample[:, None] * rng.dirichlet(np.full(3, 0.4), len(cells)).round(1)
    constraints, diversity = Constraints(empty_boxes=empty), ()
    if limited:
        k, risk = int(rng.integers(1, 4)), float(rng.choice([1.0, 0.3]))
        cuts = rng.random(sum(sizes) - len(sizes)) < 0.2
        constraints = Constraints(k=k, max_risk=risk, forbidden=cuts, empty_boxes=empty)
        diversity = (
            BoxDiversity(values, distinct=int(rng.integers(1, 3)), t=float(rng.choice([0.4, 1.0]))),
            BoxDiversity(values[:, ::-1], entropy=1.2, t=0.8, ordered=bool(rng.integers(0, 2))),
        )
    counts = CombinationCounts(
        sizes, cells.astype(np.int32), sample, people, np.zeros((len(cells), 0))
    )
    nullable = tuple(bool(x) for x in rng.integers(0, 2, len(sizes)))
    return TreeGround(counts, constraints, diversity, nullable, public=kind == 0)


def inside(ground, low, high):
    """Return which combinations are in a box, both ends included."""
    codes = ground.counts.codes
    return ((codes >= low) & (codes <= high)).all(axis=1)
