"""Adult with 13 quasi-identifiers at k = 5: what analysts get of a tree, and of Mondrian."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from benchmarks.data import folder
from benchmarks.tables import save
from numpy.typing import NDArray

from voile.report.suppression import FEW
from voile.tables.fitting.trees.forest import grow_forest
from voile.tables.fitting.trees.ground import TreeGround, TreeGrowth
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.people.counts import CombinationCounts, Constraints, distinct_rows, row_keys
from voile.tables.recoding.marginals import state_people
from voile.tables.recoding.raking import rake_values
from voile.tables.recoding.runs import choose_cuts
from voile.tables.scoring.losses import CombinationGrouping, losses
from voile.tables.trees.tree import BoxTree

COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
    *("native-country", "income"),
)
NUMBERS = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
QUASI = tuple(c for c in COLUMNS if c not in ("fnlwgt", "income"))
QUERIES, FLOOR = 1_000, 0.001


@dataclass(frozen=True)
class Boxes:
    """Rows made alike: the first and last position of each column that a row shows, (rows, d)."""

    low: NDArray[np.int32]
    high: NDArray[np.int32]


@dataclass(frozen=True)
class Spread:
    """What a recipient expects of one column: of each interval, the share of people by value.

    own : (rows,) the interval of each row. share : (intervals, values), each row sums to 1.
    runs : runs whose people are released; 1 where none are.
    """

    own: NDArray[np.intp]
    share: NDArray[np.float64]
    runs: int

    @property
    def expected(self) -> NDArray[np.float64]:
        """(rows,) the mean position."""
        return np.asarray((self.share @ np.arange(self.share.shape[1]))[self.own])


def even(boxes: Boxes, sizes: tuple[int, ...]) -> list[Spread]:
    """Return values that are even within a box, column by column."""
    spreads = []
    for j, size in enumerate(sizes):
        ends, own = np.unique(
            np.stack([boxes.low, boxes.high])[:, :, j], axis=1, return_inverse=True
        )
        inside = (np.arange(size) >= ends[0][:, None]) & (np.arange(size) <= ends[1][:, None])
        spreads.append(Spread(own, inside / inside.sum(axis=1, keepdims=True), 1))
    return spreads


def raked(boxes: Boxes, codes: NDArray[np.int32], sizes: tuple[int, ...]) -> list[Spread]:
    """Return values as marginals of the rows say, in two digits: they imply no count of 1 to 10."""
    ends, n = np.unique(np.hstack([boxes.low, boxes.high]), axis=0, return_counts=True)
    low, high = np.hsplit(ends.astype(np.int64), 2)
    spreads = []
    for j, flat in enumerate(even(boxes, sizes)):
        counts = np.bincount(codes[:, j], minlength=sizes[j])
        cuts = choose_cuts(low[:, j], high[:, j], n, counts, FEW)
        held = np.array([state_people(int(n)) for n in np.add.reduceat(counts, cuts[:-1])])
        people = np.bincount(flat.own).astype(np.float64)
        share = rake_values(flat.share > 0, people, cuts[:-1], held.astype(np.float64))
        spreads.append(Spread(flat.own, share, len(held)))
    return spreads


def adult_table() -> pa.Table:
    """Return Adult as it is, all columns as text."""
    with gzip.open(folder("adult") / "adult.data.gz", "rt") as file:
        rows = [line.strip().split(", ") for line in file if line.strip()]
    return pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))


def adult() -> tuple[NDArray[np.int32], tuple[int, ...], NDArray[np.bool_]]:
    """Return positions (rows, 13), the sizes of the domains, and who earns over 50K.

    Numbers are in their order; names by how many rows have them, the most frequent first.
    """
    table, codes = adult_table(), []
    for name in QUASI:
        values = np.array(table.column(name).to_pylist())
        if name in NUMBERS:
            codes.append(np.unique(values.astype(int), return_inverse=True)[1])
        else:
            names, place, count = np.unique(values, return_inverse=True, return_counts=True)
            rank = np.empty(len(names), dtype=int)
            rank[np.lexsort((names, -count))] = np.arange(len(names))
            codes.append(rank[place])
    positions = np.column_stack(codes).astype(np.int32)
    sizes = tuple(int(s) + 1 for s in positions.max(axis=0))
    return positions, sizes, np.array(table.column("income").to_pylist()) == ">50K"


def counts_of(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> CombinationCounts:
    """Count rows by combination."""
    distinct, n = distinct_rows(codes, np.ones(len(codes)), sizes)
    return CombinationCounts(sizes, distinct, n, n.copy(), np.zeros((len(n), 0)))


def query_error(
    codes: NDArray[np.int32], sizes: tuple[int, ...], spreads: list[Spread], *, seed: int = 0
) -> float:
    """Return the median relative error of 1,000 COUNTs, of 1 to 3 columns each.

    A query asks for 5 to 30% of each column's domain, around a random record; a row's columns are
    taken to be independent; the error is relative to the true count or .1% of rows.
    """
    rng, errors = np.random.default_rng(seed), []
    for _ in range(QUERIES):
        columns = rng.choice(len(sizes), rng.integers(1, 4), replace=False)
        record = codes[rng.integers(len(codes))]
        true, share = np.ones(len(codes), dtype=bool), np.ones(len(codes))
        for j in columns:
            width = max(1, round(rng.uniform(0.05, 0.3) * sizes[j]))
            a = int(np.clip(record[j] - rng.integers(width), 0, sizes[j] - width))
            b = a + width - 1
            true &= (codes[:, j] >= a) & (codes[:, j] <= b)
            share *= spreads[j].share[:, a : b + 1].sum(axis=1)[spreads[j].own]
        n = true.sum()
        errors.append(abs(share.sum() - n) / max(n, FLOOR * len(codes)))
    return float(np.median(errors))


def auc(
    boxes: Boxes,
    spreads: list[Spread],
    codes: NDArray[np.int32],
    outcome: NDArray[np.bool_],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> float:
    """Return the AUC on untouched rows of a boosting trained on the released ones.

    Features are the lower end, the expected value and the upper end of each column.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    model = HistGradientBoostingClassifier(max_iter=80, learning_rate=0.1, random_state=0)
    expected = np.column_stack([one.expected for one in spreads])
    model.fit(np.column_stack([boxes.low, expected, boxes.high]), outcome[train])
    of = np.column_stack([codes[test]] * 3)
    return float(roc_auc_score(outcome[test], model.predict_proba(of)[:, 1]))


def mondrian(codes: NDArray[np.int32], sizes: tuple[int, ...], k: int) -> tuple[Boxes, Boxes]:
    """Return what strict Mondrian shows of each row (LeFevre et al., ICDE 2006): regions, spans.

    Cuts the column whose values reach over the largest share of its domain at the median, or at
    the next that leaves k on both sides. Regions cover the domain, as a tree's boxes do; spans are
    what is usually released: each group's least and largest values, which are those of persons.
    """
    regions, spans = (np.empty((2, *codes.shape), dtype=np.int32) for _ in range(2))
    whole = np.stack([np.zeros(len(sizes)), np.array(sizes) - 1]).astype(np.int32)
    waiting = [(np.arange(len(codes)), whole)]
    while waiting:
        rows, region = waiting.pop()
        own = codes[rows]
        span = np.stack([own.min(axis=0), own.max(axis=0)])
        reach = (span[1] - span[0]) / (np.array(sizes) - 1)
        for j in np.argsort(-reach, kind="stable"):
            median = np.sort(own[:, j])[(len(rows) - 1) // 2]
            left = own[:, j] <= median
            if k <= left.sum() <= len(rows) - k:
                below, above = region.copy(), region.copy()
                below[1, j], above[0, j] = median, median + 1
                waiting += [(rows[left], below), (rows[~left], above)]
                break
        else:
            regions[:, rows], spans[:, rows] = region[:, None], span[:, None]
    return Boxes(*regions), Boxes(*spans)


def figures(codes: NDArray[np.int32], sizes: tuple[int, ...], boxes: Boxes) -> dict[str, float]:
    """Return the three losses of any boxes, and the query error without marginals and with."""
    pairs, group = np.unique(np.hstack([boxes.low, boxes.high]), axis=0, return_inverse=True)
    low, high = np.hsplit(pairs, 2)
    counts = counts_of(codes, sizes)
    own = np.empty(len(counts.codes), dtype=np.intp)
    own[np.searchsorted(row_keys(counts.codes, sizes), row_keys(codes, sizes))] = group
    values = tuple(
        (np.arange(size) >= a[:, None]) & (np.arange(size) <= b[:, None])
        for size, a, b in zip(sizes, low.T, high.T, strict=True)
    )
    every = np.tile(np.arange(len(pairs))[:, None], len(sizes))
    lost = losses(counts, CombinationGrouping(own, every, values, np.ones(len(pairs), dtype=bool)))
    plain, with_marginals = even(boxes, sizes), raked(boxes, codes, sizes)
    return {
        "groups": len(pairs),
        **lost,
        "query": query_error(codes, sizes, plain),
        "with marginals": query_error(codes, sizes, with_marginals),
        "runs": sum(one.runs for one in with_marginals),
    }


K, SPLITS = 5, 10
ALONE = TreeGrowth(0.0, 0.5, 0.5)
"""How one tree is grown by the loss itself: k stands, and no risk beside it."""
NOTES = """Query error is the median over 1,000 COUNTs of 1 to 3 columns. Without marginals,
values are assumed uniform within a box. With marginals they are raked to counts of released
people by runs of each column, in two digits, or tens below 100. Together with the boxes, even
exact counts would imply none of 1 to 10 people. Mondrian usually shows the least and largest
values of persons. Its regions cover the domain, as the boxes of a tree do. No row is
suppressed. AUC is that of a boosting trained on 70% of the released rows, and tried on the
other rows unchanged. Its features are the lower end, the expected value and the upper end of
each column. ARX and ANJANA were not rerun here."""


def main() -> None:
    """Compare a tree with Mondrian, and let the tree of one half of Adult meet the other half."""
    codes, sizes, income = adult()
    makers = {
        "trees, least loss": lambda own: shown(least_loss(own, sizes), own),
        "one tree, grown by the loss itself": lambda own: shown(grown_alone(own, sizes), own),
        "Mondrian, regions": lambda own: mondrian(own, sizes, K)[0],
        "Mondrian, least and largest values": lambda own: mondrian(own, sizes, K)[1],
    }
    least_loss(codes, sizes)  # compiled, not timed
    rows = [of_release(name, maker, codes, sizes, income) for name, maker in makers.items()]
    source, _ = aucs(lambda own: Boxes(own, own), codes, sizes, income)
    rows.append(("the source", "", "", "0", "0", "0", "0", "0", "", source, ""))
    empty, short = unseen(codes, sizes)
    met = (
        f"\n\nThe tree of one half of Adult was applied to the other half. There, {empty:,} of "
        f"{len(codes) // 2:,} people are in a box without a record of the first half. Another "
        f"{short:.1%} are in boxes of fewer than {K} of the second. The boxes that these are cut "
        f"from then replace them."
    )
    columns = ("release", "CPU seconds", "groups", "distribution", "resolution", "NCP")
    asked = ("query error", "with marginals", "runs, all columns")
    save(
        "trees_adult",
        "Adult, 13 quasi-identifiers, 32,561 rows, k = 5. Losses: lower is better.",
        (*columns, *asked, f"AUC, mean of {SPLITS} splits (sd)", "with marginals"),
        rows,
        NOTES + met,
    )


def of_release(
    name: str,
    maker: Callable[[NDArray[np.int32]], Boxes],
    codes: NDArray[np.int32],
    sizes: tuple[int, ...],
    income: NDArray[np.bool_],
) -> tuple[str, ...]:
    """Return the row of one way to make rows alike."""
    began = time.process_time()
    boxes = maker(codes)
    took = time.process_time() - began
    found = figures(codes, sizes, boxes)
    kept = ("distribution", "resolution", "ncp", "query", "with marginals")
    lost = [f"{found[one]:.3f}" for one in kept]
    learnt = aucs(maker, codes, sizes, income)
    return (name, f"{took:.2f}", f"{found['groups']:,}", *lost, f"{found['runs']:,}", *learnt)


def aucs(
    maker: Callable[[NDArray[np.int32]], Boxes],
    codes: NDArray[np.int32],
    sizes: tuple[int, ...],
    income: NDArray[np.bool_],
) -> tuple[str, str]:
    """Return the AUC over paired splits without marginals and with: mean, standard deviation."""
    cut, scores = round(0.7 * len(codes)), []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(codes))
        train, test = order[:cut], order[cut:]
        boxes = maker(codes[train])
        both = even(boxes, sizes), raked(boxes, codes[train], sizes)
        scores.append([auc(boxes, one, codes, income, train, test) for one in both])
    mean, sd = np.mean(scores, axis=0), np.std(scores, axis=0)
    return f"{mean[0]:.3f} ({sd[0]:.3f})", f"{mean[1]:.3f} ({sd[1]:.3f})"


def least_loss(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> BoxTree:
    """Return the tree of least loss that a fit at k finds."""
    forest = grow_forest(TreeGround(counts_of(codes, sizes), Constraints(k=K)), loss_weight=0.5)
    number, links = forest.frontier.point(-1).policy
    return forest.trees[number].prune_links(links)


def grown_alone(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> BoxTree:
    """Return one tree, all of its cuts."""
    ground = TreeGround(counts_of(codes, sizes), Constraints(k=K))
    return grow_tree(ground, ALONE, loss_weight=0.5).tree.prune_links(0)


def shown(tree: BoxTree, codes: NDArray[np.int32]) -> Boxes:
    """Return the boxes that rows are in."""
    low, high = tree.bounds
    box = tree.place(codes)
    return Boxes(low[box], high[box])


def unseen(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> tuple[int, float]:
    """Count people of one half in boxes without any of the other, and in short boxes."""
    order = np.random.default_rng(0).permutation(len(codes))
    seen, new = np.array_split(codes[order], 2)
    tree = least_loss(seen, sizes)
    held, met = (np.bincount(tree.place(own), minlength=len(tree)) for own in (seen, new))
    return int(met[held == 0].sum()), float(met[met < K].sum() / len(new))


if __name__ == "__main__":
    main()
