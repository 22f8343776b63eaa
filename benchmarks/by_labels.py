"""What is lost of columns within groups, and by the labels of each column alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.area import RISKS, Space
from benchmarks.losses import grouping_of
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts
from benchmarks.trees_adult import K, adult, counts_of, least_loss

from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.fitting.trees.forest import grow_forest
from voile.tables.fitting.trees.ground import TreeGround
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.group_measures import weigh_losses
from voile.tables.scoring.losses import CombinationGrouping, hidden_by_column, importance_shares
from voile.tables.trees.tree import BoxTree

COLUMNS = ("what", "policy", "groups", "within groups", "by labels")
NOTES = """The lost share of the columns' entropy, the mean over columns. Within groups, as in
the resolution, a person's whole group is known: H(column | group). By labels, only the column's
own label is known: H(column | label). A group of few people has few values of any column. The
two figures therefore differ more with more columns and smaller groups."""


def main() -> None:
    """Count both of the policies that other pages speak of."""
    rows = list(tennessee())
    codes, sizes, _ = adult()
    counts = counts_of(codes, sizes)
    shown = labels_of(counts, least_loss(codes, sizes))
    rows.append(row(f"Adult, 13 columns, k = {K}", "trees, least loss", counts, shown))
    save("by_labels", "Lower is better.", COLUMNS, rows, NOTES)


def tennessee() -> Iterator[tuple[str, ...]]:
    counts = tennessee_counts()
    forest = grow_forest(TreeGround(counts, Constraints(), public=True), loss_weight=0.5)
    found = search(
        Space(PolicyEvaluator(counts, loss=weigh_losses(counts))), method="quick"
    ).frontier
    for risk in RISKS:
        number, links = forest.frontier.policies[forest.frontier.at(risk=risk).index]
        cut = grouping_of(counts, found.policies[found.at(risk=risk).index])
        made = {
            "trees": labels_of(counts, forest.trees[number].prune_links(int(links))),
            "global": cut,
        }
        for name, shown in made.items():
            yield row("Tennessee", f"{name}, relative risk {risk:g}", counts, shown)


def labels_of(counts: CombinationCounts, tree: BoxTree) -> CombinationGrouping:
    """Return the boxes of a tree, and for each column the labels that they show."""
    boxes, group = np.unique(tree.place(counts.codes), return_inverse=True)
    labels, values = [], []
    for low, high, size in zip(*(ends[boxes].T for ends in tree.bounds), counts.sizes, strict=True):
        (first, last), own = np.unique(np.stack([low, high]), axis=1, return_inverse=True)
        labels.append(own)
        every = np.arange(size)
        values.append((every >= first[:, None]) & (every <= last[:, None]))
    released = np.ones(len(boxes), dtype=np.bool_)
    return CombinationGrouping(group, np.column_stack(labels), tuple(values), released)


def row(
    what: str, policy: str, counts: CombinationCounts, shown: CombinationGrouping
) -> tuple[str, ...]:
    shares = importance_shares(counts)
    lost = (float(shares @ hidden_by_column(counts, shown, own=own)) for own in (False, True))
    return (what, policy, f"{len(shown.kept):,}", *(f"{share:.3f}" for share in lost))


if __name__ == "__main__":
    main()
