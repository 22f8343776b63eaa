"""Policies scored per second, against NumPy from scratch, on the Tennessee pair (734 bits).

Everything is measured in turn in one process, round after round, and ratios are taken within a
round, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from benchmarks.tables import save
from benchmarks.tennessee import tennessee_counts

from voile.core.frontier import Frontier
from voile.tables.fitting.kernels.lattice import lattice
from voile.tables.fitting.kernels.walk import BY_RISK, changes, descend, follow
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.search import search
from voile.tables.people.counts import CombinationCounts

ROUNDS = 9


class FromScratch:
    """The rival: risk and loss of a policy with NumPy, one bincount of the population each."""

    def __init__(self, counts: CombinationCounts) -> None:
        self.counts = counts
        self.columns = [np.ascontiguousarray(column) for column in counts.codes.T]
        self.cuts = np.cumsum([size - 1 for size in counts.sizes])[:-1]
        self.seen = np.flatnonzero(counts.sample > 0)
        self.n = counts.sample[self.seen]
        self.own = float(self.n @ np.log(self.n))
        self.matches = float((self.n / counts.population[self.seen]).sum())
        whole = sum(np.log(size) for size in counts.sizes) - np.log(self.n.sum())
        self.most = self.own + self.n.sum() * whole

    def score(self, policy: np.ndarray) -> tuple[float, float]:
        keys, widths = 0, 0.0
        for column, bits in zip(self.columns, np.split(policy, self.cuts), strict=True):
            interval = np.concatenate([[0], np.cumsum(bits)])
            keys = keys * (interval[-1] + 1) + interval[column]
            widths += np.log(np.bincount(interval))[interval[column[self.seen]]] @ self.n
        people = np.bincount(keys, weights=self.counts.population)
        subjects = np.bincount(keys[self.seen], weights=self.n, minlength=len(people))
        people, subjects = people[subjects > 0], subjects[subjects > 0]
        nats = self.own - subjects @ np.log(subjects) + widths
        return float((subjects / people).sum()) / self.matches, nats / self.most


@dataclass(frozen=True)
class Space:
    evaluator: PolicyEvaluator


def seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def figures(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio > 20 else f"{ratio:.1f}"


def million(*, kept: bool) -> float:
    rng = np.random.default_rng(0)
    risk = rng.random(1_000_000)
    loss = 1 - risk if kept else rng.random(1_000_000)
    return seconds(lambda: Frontier.of(risk, loss, lambda indices: indices))


def main() -> None:
    counts = tennessee_counts()
    evaluator, rival = PolicyEvaluator(counts), FromScratch(counts)
    n_bits = evaluator.n_bits
    order = np.random.default_rng(0).permutation(n_bits)
    rank = np.empty(n_bits, dtype=np.int64)
    rank[order] = np.arange(n_bits)
    few = rank[None, :] >= np.linspace(0, n_bits, 12).astype(int)[:, None]
    theirs = np.array([rival.score(policy) for policy in few]).T
    apart = np.abs(theirs - np.array(evaluator.evaluate(few))).max()
    bottom = lattice(evaluator.cells, evaluator.rules)
    neighbours = n_bits * (n_bits + 1) // 2

    def chain() -> None:
        follow(bottom.copy(), order, np.empty((n_bits, 3)))

    def steepest() -> None:
        sums, merged = np.empty((neighbours, 3)), np.empty(n_bits, dtype=np.int32)
        at, free = bottom.copy(), np.ones(n_bits, dtype=np.bool_)
        descend(at, changes(at), free, BY_RISK, 0.0, n_bits, sums, merged)

    space = Space(evaluator)
    frontier = search(space, method="steepest").frontier.policies
    calls: dict[str, tuple[int, Callable[[], object]]] = {
        "NumPy, from scratch": (len(few), lambda: [rival.score(policy) for policy in few]),
        "`evaluate`, from scratch": (len(few), lambda: evaluator.evaluate(few)),
        "random chain, kernel": (n_bits, chain),
        "random chain, whole search, 20 chains": (
            2 + 20 * (n_bits - 1),
            lambda: search(space, method="random-chain", random_state=0),
        ),
        "steepest with all neighbours, kernel": (neighbours, steepest),
        "steepest, whole search": (2 + neighbours, lambda: search(space, method="steepest")),
        "largest risks of its frontier": (
            len(frontier),
            lambda: evaluator.figures(frontier),
        ),
    }
    for _, call in calls.values():
        call()
    took = np.array(
        [[seconds(call) / count for count, call in calls.values()] for _ in range(ROUNDS)]
    )
    speed, ratio = 1 / np.median(took, axis=0), np.median(took[:, :1] / took, axis=0)
    fastest = 1 / took.min(axis=0)
    save(
        "policies_per_second",
        "The Tennessee pair: 734 bits, 20,940 distinct records, 259,473 cells of the population.",
        ("what scores", "policies/s", "ratio to NumPy", "fastest round", "ratio of fastest"),
        [
            (name, f"{s:,.0f}", f"{figures(r)}", f"{f:,.0f}", f"{figures(f / fastest[0])}")
            for name, s, r, f in zip(calls, speed, ratio, fastest, strict=True)
        ],
        f"Medians of {ROUNDS} rounds in which all run in turn. Compiled code is loaded, not\n"
        "timed. A busy machine distorts the ratio of the fastest rounds least. From\n"
        "scratch: 12 policies spread over one random chain. The two implementations differ\n"
        f"by at most {apart:.0e}. A kernel's line is scoring alone. A whole search\n"
        "also prepares the cells, keeps the frontier and its history, and checks some\n"
        "scores again.\n\n"
        f"A million random points enter a `Frontier` in {million(kept=False):.2f} s; a million\n"
        f"that all stay on it, in {million(kept=True):.2f} s.",
    )


if __name__ == "__main__":
    main()
