"""Compile every kernel before the first search: python -m voile.tables.fitting.compile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from voile.tables.fitting.bounds.bound import bound
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import METHODS, search
from voile.tables.fitting.trees.forest import growths
from voile.tables.fitting.trees.ground import BoxDiversity, TreeGround
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.foreign.boxes import flatten_columns
from voile.tables.foreign.kernels import nearest_box, sum_fitting
from voile.tables.people.counts import CombinationCounts, Constraints

SIZES = (14, 2, 5)  # more split points than `best` scores one by one
EVALUATIONS = 5_000


@dataclass(frozen=True)
class _CompiledSpace:
    evaluator: PolicyEvaluator


def main() -> None:
    """Run every search method and a proof, with and without constraints, and grow a tree.

    The space has 140 cells.
    """
    cells = int(np.prod(SIZES))
    codes = np.stack(np.unravel_index(np.arange(cells), SIZES), axis=1).astype(np.int32)
    sample = (np.arange(cells) % 4 + 1).astype(np.float64)
    people = (np.arange(cells) % 5 + sample).astype(np.float64)
    counts = CombinationCounts(SIZES, codes, sample, people, np.eye(4)[np.arange(cells) % 3])
    for constraints in (Constraints(), Constraints(k=3, l_diversity=2, suppress=0.5)):
        space = _CompiledSpace(PolicyEvaluator(counts, constraints))
        for method in METHODS:
            found = search(space, method=method, evaluations=EVALUATIONS, random_state=0)
        space.evaluator.figures(found.frontier.policies)
        bound(space, found.frontier, weights=[0.1, 1.0, 10.0])
    every = BoxDiversity(counts.sensitive, distinct=2)
    tree = grow_tree(
        TreeGround(counts, Constraints(), (every,)), growths(0.5)[0], loss_weight=0.5
    ).tree
    tree.prune_links(0).place(codes)
    tree.bounds  # noqa: B018, access compiles the kernel
    flat = flatten_columns([np.eye(size, dtype=np.bool_) for size in SIZES])
    sum_fitting(*flat, codes, codes, people)
    nearest_box(flat[0].astype(np.float32), *flat[1:], codes, codes)


if __name__ == "__main__":
    main()
