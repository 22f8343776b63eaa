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

from voile.tables.people.counts import Constraints, Counts, distinct_rows, row_keys
from voile.tables.scoring.losses import Grouping, losses
from voile.tables.trees.forest import grow_forest
from voile.tables.trees.ground import Ground, Growth
from voile.tables.trees.growing import grow_tree
from voile.tables.trees.tree import Tree

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


def adult() -> tuple[NDArray[np.int32], tuple[int, ...], NDArray[np.bool_]]:
    """Return positions (rows, 13), the sizes of the domains, and who earns over 50K.

    Numbers are in their order; names by how many rows have them, the most frequent first.
    """
    with gzip.open(folder("adult") / "adult.data.gz", "rt") as file:
        rows = [line.strip().split(", ") for line in file if line.strip()]
    table = pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
    codes = []
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


def counts_of(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> Counts:
    """Count rows by combination."""
    distinct, n = distinct_rows(codes, np.ones(len(codes)), sizes)
    return Counts(sizes, distinct, n, n.copy(), np.zeros((len(n), 0)))


def query_error(
    codes: NDArray[np.int32], sizes: tuple[int, ...], boxes: Boxes, *, seed: int = 0
) -> float:
    """Return the median relative error of 1,000 COUNTs, of 1 to 3 columns each.

    A query asks for 5 to 30% of each column's domain, around a random record; values are taken to
    be uniform within a released box; the error is relative to the true count or .1% of rows.
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
            low, high = boxes.low[:, j], boxes.high[:, j]
            covered = np.minimum(high, b) - np.maximum(low, a) + 1
            share *= np.clip(covered, 0, None) / (high - low + 1)
        n = true.sum()
        errors.append(abs(share.sum() - n) / max(n, FLOOR * len(codes)))
    return float(np.median(errors))


def auc(
    boxes: Boxes,
    codes: NDArray[np.int32],
    outcome: NDArray[np.bool_],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> float:
    """Return the AUC on untouched rows of a boosting trained on the released ones.

    Features are the lower end, the middle and the upper end of each column.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    def features(low: NDArray[np.int32], high: NDArray[np.int32]) -> NDArray[np.float64]:
        return np.column_stack([low, (low + high) / 2, high])

    model = HistGradientBoostingClassifier(max_iter=80, learning_rate=0.1, random_state=0)
    model.fit(features(boxes.low, boxes.high), outcome[train])
    of = features(codes[test], codes[test])
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
    """Return the three losses of any boxes, and the query error."""
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
    lost = losses(counts, Grouping(own, every, values, np.ones(len(pairs), dtype=bool)))
    return {"groups": len(pairs), **lost, "query": query_error(codes, sizes, boxes)}


K, SPLITS = 5, 10
ALONE = Growth(0.0, 0.5, 0.5)
"""How one tree is grown by the loss itself: k stands, and no risk beside it."""
NOTES = """Query error is the median over 1,000 COUNTs of 1 to 3 columns, values taken as uniform
within a box. The least and largest values that Mondrian usually shows are those of persons; its
regions cover the domain, as the boxes of a tree do. No marginals are released with any of them,
and no row is suppressed. AUC is that of a boosting trained on the released rows of 70%, on the
others as they are. Not rerun here: ARX and ANJANA."""


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
    source = aucs(lambda own: Boxes(own, own), codes, income)
    rows.append(("the source", "", "", "0", "0", "0", "0", source))
    empty, short = unseen(codes, sizes)
    met = (
        f"\n\nThe tree of one half of Adult meets the other half: {empty:,} of {len(codes) // 2:,} "
        f"people are in a box that no record of the first half is in; {short:.1%} are in boxes of "
        f"fewer than {K} of the second, which then give way to the boxes that they are cut from."
    )
    columns = ("release", "CPU seconds", "groups", "distribution", "resolution", "NCP")
    save(
        "trees_adult",
        "Adult, 13 quasi-identifiers, 32,561 rows, k = 5. Losses: lower is better.",
        (*columns, "query error", f"AUC, mean of {SPLITS} splits (sd)"),
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
    lost = [f"{found[one]:.3f}" for one in ("distribution", "resolution", "ncp", "query")]
    return (name, f"{took:.2f}", f"{found['groups']:,}", *lost, aucs(maker, codes, income))


def aucs(
    maker: Callable[[NDArray[np.int32]], Boxes],
    codes: NDArray[np.int32],
    income: NDArray[np.bool_],
) -> str:
    """Return the mean and the standard deviation of the AUC over paired splits."""
    cut, scores = round(0.7 * len(codes)), []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(codes))
        train, test = order[:cut], order[cut:]
        scores.append(auc(maker(codes[train]), codes, income, train, test))
    return f"{np.mean(scores):.3f} ({np.std(scores):.3f})"


def least_loss(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> Tree:
    """Return the tree of least loss that a fit at k finds."""
    forest = grow_forest(Ground(counts_of(codes, sizes), Constraints(k=K)), loss_weight=0.5)
    number, links = forest.frontier.point(-1).policy
    return forest.trees[number].pruned(links)


def grown_alone(codes: NDArray[np.int32], sizes: tuple[int, ...]) -> Tree:
    """Return one tree, all of its cuts."""
    ground = Ground(counts_of(codes, sizes), Constraints(k=K))
    return grow_tree(ground, ALONE, loss_weight=0.5).tree.pruned(0)


def shown(tree: Tree, codes: NDArray[np.int32]) -> Boxes:
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
