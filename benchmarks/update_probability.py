"""H (eq. 1) against the share of a sublattice's policies that enter (the paper's Figure 6)."""

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
from voile.tables.paper.chains import RandomChain
from voile.tables.paper.sublattice import Rectangle, update_probability
from voile.tables.scoring.evaluator import Evaluator, Scores
from voile.tables.searches.run import DIGITS

SUBLATTICES = 24_240
FRONTIERS = 21
FEWER = SUBLATTICES // 10
TRIED = 4
BATCH = 1_000
BINS = 10


@dataclass(frozen=True)
class Found:
    """By sublattice: H, and the share of the policies tried that would enter the frontier."""

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
        """Return Pearson's correlation over the bins, and over single sublattices."""
        _, h, ratio = self.bins()
        return tuple(float(np.corrcoef(*pair)[0, 1]) for pair in ((h, ratio), (self.h, self.ratio)))


def draw(rng: np.random.Generator, n_bits: int) -> NDArray[np.bool_]:
    """Return a random sublattice's top and bottom, and policies of one random chain between.

    Drawn as the search does while nothing is pruned: between two policies of a random chain.
    """
    rank = rng.permutation(n_bits)
    begin, end = np.sort(rng.choice(n_bits + 1, 2, replace=False))
    free = rng.permutation(np.flatnonzero((rank >= begin) & (rank < end)))
    rows = np.tile(rank >= begin, (2 + TRIED, 1))
    rows[0] = rank >= end
    for row, merges in zip(rows[2:], rng.integers(0, len(free) + 1, TRIED), strict=True):
        row[free[:merges]] = False
    return rows


def enters(frontier: Frontier, risk: NDArray[np.float64], loss: NDArray[np.float64]) -> np.ndarray:
    """Say which policies the frontier neither dominates nor holds already."""
    least = np.concatenate([[np.inf], frontier.loss])
    return loss < least[np.searchsorted(frontier.risk, risk, side="right")]


def measure(evaluator: Evaluator, seed: int, sublattices: int) -> Found:
    """Draw a frontier, one random chain, and sublattices; compare H with what enters."""
    n_bits, rng = evaluator.n_bits, np.random.default_rng(seed)
    frontier = areas(evaluator, RandomChain(), [n_bits + 1], seed)[1]
    h, ratio = [], []
    for begin in range(0, sublattices, BATCH):
        drawn = [draw(rng, n_bits) for _ in range(min(BATCH, sublattices - begin))]
        scores = [s.round(DIGITS) for s in evaluator.evaluate(np.concatenate(drawn))]
        for risk, loss in zip(*(s.reshape(len(drawn), -1) for s in scores), strict=True):
            ends = Rectangle.of(Scores(risk[:2], loss[:2], np.zeros(2)))
            h.append(update_probability(frontier, ends))
            ratio.append(enters(frontier, risk[2:], loss[2:]).mean())
    return Found(np.array(h), np.array(ratio))


def rows_of(found: Found) -> Iterator[tuple[str, ...]]:
    count, h, ratio = found.bins()
    filled = iter(zip(h, ratio, strict=True))
    for i, sublattices in enumerate(count):
        own = (f"{x:.3f}" for x in next(filled)) if sublattices else ("", "")
        yield (f"{i / BINS:g} to {(i + 1) / BINS:g}", f"{sublattices:,}", *own)


def main() -> None:
    evaluator = Evaluator(tennessee_counts())
    found = measure(evaluator, 0, SUBLATTICES)
    others = [measure(evaluator, seed, FEWER).correlations() for seed in range(1, FRONTIERS)]
    mean, deviation = np.mean(others, axis=0), np.std(others, axis=0)
    over_bins, single = found.correlations()
    _, h, ratio = found.bins()
    lines = (
        Series("measured, a point for each bin of H", tuple(h), tuple(ratio)),
        Series("as H says", (0.0, 1.0), (0.0, 1.0)),
    )
    chart = LineChart(lines, "H (eq. 1)", "share of policies that enter the frontier")
    picture.save_lines("update_probability", chart.y_name, [chart])
    save(
        "update_probability",
        f"H (eq. 1) of {SUBLATTICES:,} random sublattices of the Tennessee lattice, and the share\n"
        "of their policies that would enter the frontier, which is one random chain.",
        ("H", "sublattices", "mean H", "share that enters"),
        [*rows_of(found)],
        f"Pearson's correlation over the bins: **{over_bins:.3f}**; over single sublattices\n"
        f"{single:.3f}. The paper: .864, of as many sublattices in ten bins. On {FRONTIERS - 1}\n"
        f"other frontiers, {FEWER:,} sublattices each: {mean[0]:.3f} (sd {deviation[0]:.3f}) over\n"
        f"the bins, {mean[1]:.3f} (sd {deviation[1]:.3f}) over single ones.\n\n"
        f"Of each sublattice {TRIED} policies of one random chain are tried, at places drawn\n"
        "uniformly along it, as the search would meet them; a sublattice is drawn as the search\n"
        "draws while nothing is pruned. What the paper tries in each, it does not say.\n\n"
        "![H against the share of policies that enter](../pictures/update_probability.svg)",
    )


if __name__ == "__main__":
    main()
