"""H (eq. 1) against E, the share of a random chain's policies that enter (the paper's Figure 6).

The paper's coefficient, .8643536 with a p-value of 2.2e-16, is of single sublattices: over ten bins
that coefficient has a p-value of .0012.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks import picture
from benchmarks.by_evaluations import areas
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.report.sections import LineChart, Series
from voile.tables.fitting.paper.chains import RandomChain
from voile.tables.fitting.paper.sublattice import FigureRectangle, update_probability
from voile.tables.fitting.scoring.evaluator import Policies, PolicyEvaluator, PolicyScores
from voile.tables.fitting.searches.run import DIGITS

SUBLATTICES = 2_424
"""A tenth of the paper's."""
FRONTIERS = 11
FEWER = SUBLATTICES // 10
BINS = 10


@dataclass(frozen=True)
class Found:
    """By sublattice: H, and E, the share of a chain's policies that would enter the frontier."""

    h: NDArray[np.float64]
    ratio: NDArray[np.float64]

    def bins(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return, of each bin of H that is not empty, its sublattices, mean H and mean ratio."""
        which = np.minimum((self.h * BINS).astype(int), BINS - 1)
        count = np.bincount(which, minlength=BINS)
        own = count > 0
        h, ratio = (
            np.bincount(which, each, BINS)[own] / count[own] for each in (self.h, self.ratio)
        )
        return count, h, ratio

    def correlations(self) -> tuple[float, float]:
        """Return Pearson's correlation of H and E over single sublattices, and over the bins."""
        _, h, ratio = self.bins()
        return tuple(float(np.corrcoef(*pair)[0, 1]) for pair in ((self.h, self.ratio), (h, ratio)))


def draw(rng: np.random.Generator, n_bits: int) -> tuple[Policies, NDArray[np.intp]]:
    """Return a random sublattice's bottom, and the order in which a random chain merges its cuts.

    The sublattice is drawn as the search does while nothing is pruned: between two policies of a
    random chain.
    """
    rank = rng.permutation(n_bits)
    begin, end = np.sort(rng.choice(n_bits + 1, 2, replace=False))
    return rank >= begin, rng.permutation(np.flatnonzero((rank >= begin) & (rank < end)))


def walk(evaluator: PolicyEvaluator, bottom: Policies, order: NDArray[np.intp]) -> PolicyScores:
    """Score every policy of a chain, from the sublattice's bottom to its top."""
    first = evaluator.evaluate(bottom[None])
    rest = [evaluator.normalise(sums) for sums in evaluator.scorer.walk(bottom, order)]
    risk = np.concatenate([first[0], *(one.risk for one in rest)]).round(DIGITS)
    loss = np.concatenate([first[1], *(one.loss for one in rest)]).round(DIGITS)
    return PolicyScores(risk, loss, np.zeros(len(risk)))


def enters(frontier: Frontier, risk: NDArray[np.float64], loss: NDArray[np.float64]) -> np.ndarray:
    """Say which policies the frontier neither dominates nor holds already."""
    least = np.concatenate([[np.inf], frontier.loss])
    return loss < least[np.searchsorted(frontier.risk, risk, side="right")]


def measure(evaluator: PolicyEvaluator, seed: int, sublattices: int) -> Found:
    """Draw a frontier, one random chain, and sublattices; compare H with what enters."""
    n_bits, rng = evaluator.n_bits, np.random.default_rng(seed)
    frontier = areas(evaluator, RandomChain(), [n_bits + 1], seed)[1]
    h, ratio = [], []
    for _ in range(sublattices):
        chain = walk(evaluator, *draw(rng, n_bits))
        ends = PolicyScores(chain.risk[[-1, 0]], chain.loss[[-1, 0]], np.zeros(2))
        h.append(update_probability(frontier, FigureRectangle.of(ends)))
        ratio.append(enters(frontier, chain.risk, chain.loss).mean())
    return Found(np.array(h), np.array(ratio))


def rows_of(found: Found) -> Iterator[tuple[str, ...]]:
    count, h, ratio = found.bins()
    filled = iter(zip(h, ratio, strict=True))
    for i, sublattices in enumerate(count):
        own = (f"{x:.3f}" for x in next(filled)) if sublattices else ("", "")
        yield (f"{i / BINS:g} to {(i + 1) / BINS:g}", f"{sublattices:,}", *own)


def main() -> None:
    evaluator = PolicyEvaluator(tennessee_counts())
    found = measure(evaluator, 0, SUBLATTICES)
    others = [measure(evaluator, seed, FEWER).correlations() for seed in range(1, FRONTIERS)]
    mean, deviation = np.mean(others, axis=0), np.std(others, axis=0)
    single, over_bins = found.correlations()
    _, h, ratio = found.bins()
    lines = (
        Series("measured, a point for each bin of H", tuple(h), tuple(ratio)),
        Series("as H says", (0.0, 1.0), (0.0, 1.0)),
    )
    chart = LineChart(lines, "H (eq. 1)", "share of policies that enter the frontier")
    picture.save_lines("update_probability", chart.y_name, [chart])
    save(
        "update_probability",
        f"H (eq. 1) of {SUBLATTICES:,} random sublattices of the Tennessee lattice, and E. E\n"
        "is the share of a random chain's policies that would enter the frontier. The\n"
        "frontier is that of one random chain.",
        ("H", "sublattices", "mean H", "mean E"),
        [*rows_of(found)],
        "Pearson's correlation of H and E:\n\n"
        f"| of | definition | ours | {FRONTIERS - 1} other frontiers: mean (sd) "
        "| the paper, Adult |\n"
        "| --- | --- | --- | --- | --- |\n"
        f"| single sublattices | one pair (H, E) a sublattice | **{single:.3f}** | "
        f"{mean[0]:.3f} ({deviation[0]:.3f}) | **.864** |\n"
        f"| ten bins of H | one pair (mean H, mean E) a bin | {over_bins:.3f} | "
        f"{mean[1]:.3f} ({deviation[1]:.3f}) | not given |\n\n"
        "The paper gives the p-value 2.2e-16 with its coefficient. "
        "Over ten bins that coefficient has\n"
        "the p-value .0012, so the coefficient is of single sublattices. Each other frontier has\n"
        f"{FEWER:,} sublattices; the paper has 24,240. "
        "As in the paper, E counts every policy of one\n"
        "random chain through the sublattice, ends included. A sublattice is drawn as the search\n"
        "draws while nothing is pruned.\n\n"
        "![H against the share of policies that enter](../pictures/update_probability.svg)",
    )


if __name__ == "__main__":
    main()
