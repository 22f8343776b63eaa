"""Area against policies searched (the paper's Figure 5): random chains, sublattices, steepest."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
from benchmarks import picture
from benchmarks.area import Space
from benchmarks.by_evaluations import Method, areas
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts

from voile.report.sections import LineChart, Series
from voile.tables.fitting.paper.chains import RandomChain
from voile.tables.fitting.paper.sublattice import SublatticeSearch
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.fitting.searches import steepest

POLICIES = 14_780
FIRST = 1_000
MARKS = (*range(20, FIRST, 20), *range(FIRST, POLICIES, 265), POLICIES)
SHOWN = (100, 500, 1_000, 2_000, 5_000, 10_000, POLICIES)
METHODS: dict[str, Method] = {
    "random-chain": RandomChain(),
    "sublattice": SublatticeSearch(),
    "sublattice without H (TH 0)": SublatticeSearch(0.0),
    "random-chain, by attributes": RandomChain("attributes"),
    "steepest": steepest.explore,
}
DRAWN = tuple(METHODS)[:3]
MARKED = tuple(sorted({*MARKS, *SHOWN}))


def charts(found: dict[str, np.ndarray], name: str, level: float) -> list[LineChart]:
    """Draw the first policies searched, and the others."""

    def chart(least: int, most: int) -> LineChart:
        within = [i for i, mark in enumerate(MARKED) if least <= mark <= most]
        x = tuple(float(MARKED[i]) for i in within)

        def line(method: str) -> Series:
            area = found[method][:, within]
            mean, deviation = area.mean(axis=0), area.std(axis=0)
            band = tuple(mean - deviation), tuple(np.minimum(mean + deviation, 1))
            return Series(method, x, tuple(mean), *band)

        flat = Series(name, (x[0], x[-1]), (level, level))
        return LineChart((*map(line, DRAWN), flat), "policies searched", "area under the frontier")

    return [chart(0, FIRST), chart(FIRST, POLICIES)]


def row(name: str, area: np.ndarray, sizes: Sequence[int], rival: float) -> tuple[str, ...]:
    at = [MARKED.index(n) for n in SHOWN]
    cells = zip(area.mean(axis=0)[at], area.std(axis=0)[at], strict=True)
    shown = [f"{mean:.3f}" + (f" ({sd:.3f})" if len(area) > 1 else "") for mean, sd in cells]
    less = f"{1 - area[:, -1].mean() / rival:+.0%}"
    return (name, *shown, f"{np.mean(sizes):,.0f}", less)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20, help="20 as in the paper's Figure 5")
    options = parser.parse_args()
    evaluator = PolicyEvaluator(tennessee_counts())
    found, rows, rival = {}, [], 0.0
    for name, method in METHODS.items():
        seeds = range(options.seeds if name != "steepest" else 1)  # it draws nothing
        runs = [areas(evaluator, method, MARKED, seed) for seed in seeds]
        found[name] = np.array([area for area, _ in runs])
        rival = rival or found[name][:, -1].mean()
        rows.append(row(name, found[name], [len(frontier) for _, frontier in runs], rival))
    whole = search(Space(evaluator), method="steepest")
    area, less = whole.frontier.area(), f"{1 - whole.frontier.area() / rival:+.0%}"
    end = f"steepest to its end, {whole.evaluations:,} policies"
    before = [""] * (len(SHOWN) - 1)
    rows.append((end, *before, f"{area:.3f}", f"{len(whole.frontier):,}", less))
    picture.save_lines(
        "area_against_policies",
        "Area under the frontier against policies searched",
        charts(found, end, area),
    )
    save(
        "area_against_policies",
        "Mean area under the frontier (and its standard deviation) after so many policies\n"
        "searched, the top and the bottom among them; Tennessee, lower is better.",
        ("method", *(f"{n:,}" for n in SHOWN), "policies kept", "less area than random-chain"),
        rows,
        f"{options.seeds} seeds. {POLICIES:,} policies are the paper's 20 chains of 739. All\n"
        "start from the top and the bottom. Steepest scores every neighbour of each policy on\n"
        f"its way, and all count: {POLICIES:,} bring it {steps(evaluator.n_bits)} merges far.\n"
        "To its end it takes less time than 20 random chains (`area.md`), since what merges\n"
        "change is kept from step to step.\n\n"
        "![Area against policies searched](../pictures/area_against_policies.svg)\n\n"
        "Bands: one standard deviation either side. Right: the same from 1,000 policies on.",
    )


def steps(n_bits: int) -> int:
    """Return how many merges of a steepest chain the policies are enough for."""
    return int(np.searchsorted(np.cumsum(np.arange(n_bits, 0, -1)), POLICIES))


if __name__ == "__main__":
    main()
