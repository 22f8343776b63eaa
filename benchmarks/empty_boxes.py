"""What it costs to let a tree leave boxes without a record, on the Tennessee pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from benchmarks.area import RISKS
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts
from numpy.typing import NDArray

from voile.tables.fitting.trees.forest import PolicyForest, grow_forest
from voile.tables.fitting.trees.ground import TreeGround
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.trees.tree import BoxTree

LIMITS = (5, 11)
COLUMNS = (
    *("boxes may be empty", *(f"loss at {risk:g}" for risk in RISKS)),
    *(f"people outside at {risk:g}" for risk in RISKS),
    *(f"never certified at {risk:g}" for risk in RISKS),
    *(f"estimated over true risk, k = {k}" for k in LIMITS),
)
NOTES = """*People outside* are the share of the population in boxes without a record: each of
them is proved absent from the source. *Never certified* is the share of the people outside the
sample who would fall into such a box. *Estimated over true risk* uses a true random sample of
Tennessee, as large, and no table of people. There g is n times the population over the sample.
This gives a sum of n / g for the policy of least loss. The figure divides it by the true sum,
from the population: below 1 the estimate promises too much."""


def main() -> None:
    """Grow both kinds, with the population and without."""
    counts = tennessee_counts()
    rows = [row(counts, empty=empty) for empty in (False, True)]
    save(
        "empty_boxes",
        "The Tennessee pair (734 bits), half distribution and half resolution.",
        COLUMNS,
        rows,
        NOTES,
    )


def row(counts: CombinationCounts, *, empty: bool) -> list[str]:
    forest = grow_forest(
        TreeGround(counts, Constraints(empty_boxes=empty), public=True), loss_weight=0.5
    )
    points = [forest.frontier.at(risk=risk) for risk in RISKS]
    trees = [tree_of(forest, point.policy) for point in points]
    unseen = np.maximum(counts.population - counts.sample, 0.0)
    outside, never = (
        [f"{empty_share(tree, counts, people):.1%}" for tree in trees]
        for people in (counts.population, unseen)
    )
    over = [f"{estimated_over_true(counts, k, empty=empty):.2f}" for k in LIMITS]
    losses = [f"{point.loss:.4f}" for point in points]
    return ["yes" if empty else "no", *losses, *outside, *never, *over]


def tree_of(forest: PolicyForest, policy: NDArray[np.int32]) -> BoxTree:
    """Return one policy of a forest."""
    number, links = policy.tolist()
    return forest.trees[number].prune_links(links)


def empty_share(tree: BoxTree, counts: CombinationCounts, people: NDArray[np.float64]) -> float:
    """Return the share of people in boxes without a record of the sample."""
    box = tree.place(counts.codes)
    n = np.bincount(box, counts.sample, len(tree))
    return float(people[n[box] == 0].sum() / people.sum())


def estimated_over_true(counts: CombinationCounts, k: int, *, empty: bool) -> float:
    """Return the estimated sum of risk over the true one, of a tree grown without a population."""
    people, size = counts.population.astype(np.int64), round(counts.subjects)
    sample = np.random.default_rng(0).multivariate_hypergeometric(people, size, method="marginals")
    counts = replace(counts, sample=sample.astype(np.float64))
    factor = people.sum() / size
    alone = replace(counts, population=counts.sample * factor)
    rules = Constraints(k=k, empty_boxes=empty)
    forest = grow_forest(TreeGround(alone, rules), loss_weight=0.5)
    box = tree_of(forest, forest.frontier.point(-1).policy).place(counts.codes)
    n, g = (np.bincount(box, of) for of in (counts.sample, counts.population))
    own = n > 0
    return float(own.sum() / factor / (n[own] / np.maximum(n, g)[own]).sum())


if __name__ == "__main__":
    main()
