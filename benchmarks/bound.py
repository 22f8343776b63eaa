"""How far from perfect a frontier can be: proved bounds, on 67 bits and on all 734."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from benchmarks.area import LOSSES, RISKS, Space
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts

from voile.core.frontier import Frontier
from voile.tables.fitting.bounds.bound import bound
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.people.counts import CombinationCounts
from voile.tables.policies.loss_bound import LossBound

SECONDS = 60
LONG = 600
WEIGHTS = np.geomspace(0.03, 3e3, 20)
FEW = np.array([0.1, 0.3, 0.5, 1, 3, 10, 50, 150, 1e3])
BANDS, GROUPS = 22, 42
COLUMNS = ("lattice", "weight", "bound", "best found", "gap", "after seconds")
PARTS = (
    "lattice",
    "weights",
    "seconds",
    "CPU seconds",
    "proved",
    "hull",
    "staircase",
    "largest gap",
    "optimal",
    *LOSSES,
)


def coarse(counts: CombinationCounts) -> CombinationCounts:
    """Count by five-year bands of age and 42 groups of neighbouring ZIPs, about equally peopled."""
    ages, sexes, races, zips = counts.sizes
    people = np.bincount(counts.codes[:, 3], counts.population, zips)
    middle = (np.cumsum(people) - people / 2) / people.sum()
    codes = counts.codes.copy()
    codes[:, 0] = np.minimum(codes[:, 0] // 5, BANDS - 1)
    codes[:, 3] = (middle * GROUPS).astype(np.int32)[codes[:, 3]]
    sizes = (min(-(-ages // 5), BANDS), sexes, races, GROUPS)
    keys = np.ravel_multi_index(list(codes.T), sizes)
    distinct, cell = np.unique(keys, return_inverse=True)
    return CombinationCounts(
        sizes=sizes,
        codes=np.stack(np.unravel_index(distinct, sizes), axis=1).astype(np.int32),
        sample=np.bincount(cell, counts.sample),
        population=np.bincount(cell, counts.population),
        sensitive=np.zeros((len(distinct), 0)),
    )


def weights_of(name: str, found: LossBound) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{weight:.3g}",
            "none" if np.isnan(lower) else f"{lower:.5f}",
            f"{best:.5f}",
            "" if np.isnan(gap) else f"{gap:.2%}",
            "" if np.isnan(seconds) else f"{seconds:.1f}",
        )
        for weight, lower, best, gap, seconds in zip(*found.frame().values(), strict=True)
    ]


def timed(space: Space, frontier: Frontier, **limits: Any) -> tuple[LossBound, float]:
    """Return a bound and the CPU seconds it took."""
    began = time.process_time()
    return bound(space, frontier, **limits), time.process_time() - began


def parts_of(name: str, found: LossBound, took: float) -> str:
    bounded = ~np.isnan(found.gap)
    cells = (
        name,
        f"{len(found.weight)}",
        f"{np.nanmax(found.seconds):.1f}" if bounded.any() else "",
        f"{took:.0f}",
        f"{found.area:.5f}",
        f"{found.hull:.5f}",
        f"{found.staircase:.5f}",
        f"{found.gap[bounded].max():.2%}" if bounded.all() else "none",
        f"{found.optimal.sum()}",
        *(
            f"{least:.4f} of {found.frontier.at(risk=risk).loss:.4f}"
            for risk, least in zip(RISKS, found.least_loss(RISKS), strict=True)
        ),
    )
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--search", type=float, default=SECONDS, help="seconds to search first")
    parser.add_argument("--long", type=float, default=LONG, help="seconds to prove for 734 bits")
    options = parser.parse_args()
    whole = tennessee_counts()
    small, large = Space(PolicyEvaluator(coarse(whole))), Space(PolicyEvaluator(whole))
    bound(small, search(small).frontier, weights=[1.0])  # compiles, not timed
    found = search(small, method="best", seconds=options.search).frontier
    twenty, took = timed(small, found, weights=WEIGHTS, seconds=SECONDS)
    chosen, chosen_took = timed(small, twenty.frontier, seconds=2 * SECONDS)
    found = search(large, method="best", seconds=options.search).frontier
    few, few_took = timed(large, found, weights=FEW, seconds=options.long)
    parts = [
        parts_of("67 bits", twenty, took),
        parts_of("67 bits, more weights where they help", chosen, chosen_took),
        parts_of("734 bits", few, few_took),
    ]
    save(
        "bound",
        "Proved: no policy has less loss + weight x relative risk than the bound. So none\n"
        "is better than the best found by more than the gap.",
        COLUMNS,
        weights_of("67 bits", twenty) + weights_of("734 bits", few),
        "Area under the risk-loss staircase. No policies have less than *proved*. *Hull* is\n"
        "the area under the convex hull of the found policies, *staircase* that of the\n"
        "found policies. A bound on weighted sums does not bound the area between hull and\n"
        "staircase. A bound for each partition of sex and race separately covers part of\n"
        "it.\n\n"
        f"| {' | '.join(PARTS)} |\n| {' | '.join('---' for _ in PARTS)} |\n"
        + "\n".join(parts)
        + "\n\n67 bits: the Tennessee pair as a separate source, whose bottom loses nothing. It\n"
        f"has age in {BANDS} five-year bands, sex, race, and ZIP in {GROUPS} groups of\n"
        "neighbours of about equal population. 734 bits: all of the pair. Seconds allowed\n"
        f"for the proof: {SECONDS} for 20 weights and {2 * SECONDS} for more on 67 bits,\n"
        f"{options.long:,.0f} on 734. Found policies: those of `best`, at most\n"
        f"{options.search:.0f} seconds, and those met on the way. *Optimal*: at so many\n"
        "weights the best is proved best, to a millionth. Other work shared the machine.\n"
        "CPU seconds are the time of the proof alone on a machine. *Seconds*: to the last\n"
        "rise. *Loss at* a relative risk: no policy of that risk or less loses less than\n"
        "the first number, and the best found loses the second. *More weights*: after the\n"
        "first 20, the weights between them at which the bound on the area can rise most.\n"
        "`voile tables fit --lower-bound-seconds` takes the same.",
    )


if __name__ == "__main__":
    main()
