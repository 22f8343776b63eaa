"""How fast one tree grows and is pruned: a million rows, and the Tennessee pair."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import numpy as np
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts

from voile.tables.fitting.trees.forest import growths
from voile.tables.fitting.trees.ground import TreeGround, TreeGrowth
from voile.tables.fitting.trees.growing import grow_tree
from voile.tables.people.counts import CombinationCounts, Constraints

K, REPEATS = 5, 3
GROWTH = TreeGrowth(0.0, 0.7, 0.7)
COLUMNS = ("rows x columns", "CPU seconds, grow and prune", "MB added", "boxes")


def main() -> None:
    """Time one tree on each table; the kernels are compiled before."""
    rows = []
    grow_tree(TreeGround(made_up(1_000, 10), Constraints(k=K)), GROWTH, loss_weight=0.5)
    for n, d in ((1_000_000, 10), (1_000_000, 30), (10_000_000, 10)):
        ground = TreeGround(made_up(n, d), Constraints(k=K))
        rows.append((f"{n:,} x {d}, k = {K}", *timed(ground, GROWTH)))
    ground = TreeGround(tennessee_counts(), Constraints(), public=True)
    rows.append(("Tennessee, 259,473 combinations x 4", *timed(ground, growths(0.5)[0])))
    save(
        "trees_speed",
        "One tree, one core, the median of three. Rows of millions are made up: correlated\n"
        "columns of 2 to 100 values. Memory excludes the counts that the tree grows on.",
        COLUMNS,
        rows,
    )


def timed(ground: TreeGround, growth: TreeGrowth) -> tuple[str, ...]:
    """Return the median CPU seconds, the MB that are added at most, and boxes."""
    took = []
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = megabytes("VmRSS")
    for _ in range(REPEATS):
        began = time.process_time()
        grown = grow_tree(ground, growth, loss_weight=0.5)
        took.append(time.process_time() - began)
    more = megabytes("VmHWM") - before
    return f"{statistics.median(took):.2f}", f"{more:,.0f}", f"{len(grown.tree.leaves):,}"


def megabytes(name: str) -> float:
    """Return a figure of this process's memory: resident, or its peak."""
    (line,) = (
        one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith(name)
    )
    return int(line.split()[1]) / 1024


def made_up(n: int, d: int) -> CombinationCounts:
    """Return rows of correlated columns of 2 to 100 values, as in registers of people."""
    from scipy.special import ndtr

    rng = np.random.default_rng(0)
    sizes = tuple((74, 9, 16, 7, 15, 6, 5, 2, 100, 42)[j % 10] for j in range(d))
    common, codes = rng.normal(size=n), np.empty((n, d), dtype=np.int32)
    for j, size in enumerate(sizes):
        place = ndtr(0.6 * common + 0.8 * rng.normal(size=n)) ** 1.5
        codes[:, j] = np.minimum(place * size, size - 1)
    ones = np.ones(n)
    return CombinationCounts(sizes, codes, ones, ones, np.zeros((n, 0)))


if __name__ == "__main__":
    main()
