"""Area under the frontier: the steepest chain against random chains, on two populations."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from benchmarks.cook import cook_counts
from benchmarks.tables import save
from benchmarks.tennessee import RACES, tennessee_counts

from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.fitting.searches.result import SearchResult
from voile.tables.people.counts import CombinationCounts

EVALUATIONS = 14_780
SEEDS = 5
RISKS = (0.1, 0.01, 0.001)
LOSSES = tuple(f"loss at {risk:g}" for risk in RISKS)
WORK = ("population", "method", "evaluations", "seconds")
COLUMNS = (*WORK, "area", "log area", *LOSSES, "policies kept")


@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator


def figures(result: SearchResult) -> list[float]:
    frontier = result.frontier
    losses = [frontier.at(risk=risk).loss for risk in RISKS]
    return [frontier.area(), frontier.area(log=True), *losses, len(frontier)]


def rows_of(name: str, counts: CombinationCounts) -> list[tuple[str, ...]]:
    space = Space(PolicyEvaluator(counts))
    search(space, method="steepest")  # loads the compiled code and sorts the cells, not timed
    random, took = [], []
    for seed in range(SEEDS):
        began = time.perf_counter()
        found = search(space, method="random-chain", evaluations=EVALUATIONS, random_state=seed)
        took.append(time.perf_counter() - began)
        random.append(figures(found))
    began = time.perf_counter()
    steepest = search(space, method="steepest")
    seconds = time.perf_counter() - began
    mean, best = np.mean(random, axis=0), figures(steepest)
    deviation = np.std([each[0] for each in random])

    def row(what: str, evaluations: int, time: float, values: list[float]) -> tuple[str, ...]:
        shown = [f"{value:.4f}" for value in values[:2]] + [f"{value:.3f}" for value in values[2:5]]
        return (name, what, f"{evaluations:,}", f"{time:.2f}", *shown, f"{values[5]:,.0f}")

    return [
        row(
            f"random-chain (sd of area {deviation:.4f})", EVALUATIONS, float(np.median(took)), mean
        ),
        row("steepest", steepest.evaluations, seconds, best),
        (name, "ratio of areas", "", "", f"{best[0] / mean[0]:.3f}", "", "", "", "", ""),
    ]


def main() -> None:
    populations = {
        "Tennessee": tennessee_counts(),
        "Tennessee, races A-Z": tennessee_counts(races=tuple(sorted(RACES))),
        "Cook County": cook_counts(),
    }
    save(
        "area",
        "Area under the risk-loss staircase in [0, 1]^2, and over log10(risk) from 1e-4; loss at\n"
        "relative risk .1, .01 and .001. Lower is better.",
        (
            "population",
            "method",
            "evaluations",
            "seconds",
            "area",
            "log area",
            *(f"loss at {risk:g}" for risk in RISKS),
            "policies kept",
        ),
        [row for name, counts in populations.items() for row in rows_of(name, counts)],
        f"Random chains: means of {SEEDS} seeds, {EVALUATIONS:,} evaluations each, as many as the\n"
        "paper's; times are medians. Steepest makes more evaluations in less time.\n"
        "The order of a domain without a natural order matters. The table compares voile's\n"
        "default, races by number of records (White, Black, Asian, American Indian, Other),\n"
        "with the alphabet's order.",
    )


if __name__ == "__main__":
    main()
