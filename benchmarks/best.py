"""The best search against steepest and random chains, and against whole frontiers known."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from benchmarks.area import LOSSES, RISKS, Space
from benchmarks.cook import cook_counts
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts

from voile.tables.counts import Constraints, Counts
from voile.tables.evaluator import Evaluator
from voile.tables.searches import SearchResult, __main__, best, search
from voile.tables.searches.run import Run

SECONDS = 60
EVALUATIONS = 14_780
LATTICES = 20
FREE = 16
COLUMNS = ("what", "strategy", "evaluations", "seconds", "area", "log area", *LOSSES)


def row(name: str, find: Callable[[], SearchResult]) -> tuple[str, ...]:
    began = time.perf_counter()
    found = find()
    seconds, frontier = time.perf_counter() - began, found.frontier
    areas = [f"{frontier.area():.5f}", f"{frontier.area(log=True):.4f}"]
    losses = [f"{frontier.at(risk=risk).loss:.4f}" for risk in RISKS]
    return (name, found.strategy, f"{found.evaluations:,}", f"{seconds:.1f}", *areas, *losses)


def rows_of(name: str, counts: Counts) -> list[tuple[str, ...]]:
    space = Space(Evaluator(counts))
    search(space, evaluations=1)  # sorts the cells, not timed
    limits = {
        "random-chain": {"evaluations": EVALUATIONS, "random_state": 0},
        "steepest": {},
        "interval": {"seconds": SECONDS},
        "local": {"seconds": SECONDS},
        "best": {"seconds": SECONDS},
    }
    return [
        row(name, lambda s=strategy, limit=limit: search(space, strategy=s, **limit))
        for strategy, limit in limits.items()
    ]


def lattices(counts: Counts) -> tuple[str, ...]:
    """Compare what is found without scoring all with the whole frontier, on random lattices."""
    n_bits = sum(counts.sizes) - len(counts.sizes)
    same, evaluations, worst = 0, [], 0.0
    began = time.perf_counter()
    for seed in range(LATTICES):
        forbidden = np.ones(n_bits, dtype=np.bool_)
        forbidden[np.random.default_rng(seed).choice(n_bits, FREE, replace=False)] = False
        evaluator = Evaluator(counts, Constraints(forbidden=forbidden))
        whole = search(Space(evaluator), strategy="exhaustive").frontier
        rng = np.random.default_rng(0)
        run = Run(evaluator, evaluations=None, seconds=None, rng=rng, progress=None)
        run.begin()
        best.seek(run)
        found = run.frontier()
        evaluations.append(run.evaluations)
        worst = max(worst, found.area() / whole.area() - 1)
        same += len(found) == len(whole) and np.allclose(found.loss, whole.loss, atol=1e-10)
    seconds = time.perf_counter() - began
    return (
        f"{LATTICES} lattices of {FREE} bits: whole frontier found on {same}",
        "best, without scoring all",
        f"{np.median(evaluations):,.0f}",
        f"{seconds:.1f} (exhaustive included)",
        f"at most {worst:.2%} above",
        *("",) * 4,
    )


def main() -> None:
    __main__.main()  # compiles, not timed
    tennessee = tennessee_counts()
    save(
        "best",
        "Area under the risk-loss staircase in [0, 1]^2, and over log10(risk) from 1e-4; loss at\n"
        "relative risk .1, .01 and .001. Lower is better.",
        COLUMNS,
        [
            *rows_of("Tennessee", tennessee),
            *rows_of("Cook County", cook_counts()),
            lattices(tennessee),
        ],
        f"`interval`, `local` and `best` were stopped after {SECONDS} seconds. An evaluation is a\n"
        "policy scored; of the dynamic programming, one for each interval gone through. Where at\n"
        f"most {FREE} cuts are free, `best` scores every policy; the last row shows it without\n"
        "that: the whole frontier counts as found when risk and loss of all its policies are.",
    )


if __name__ == "__main__":
    main()
