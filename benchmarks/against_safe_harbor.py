"""Policies that beat Safe Harbor (the paper's Figures 7 to 9): how many, how far, which."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import numpy as np
from benchmarks import picture
from benchmarks.data import folder
from benchmarks.tables import save
from benchmarks.tennessee import COLUMNS as QUASI
from markupsafe import Markup
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.report.charts import axes, svg
from voile.report.charts.axes import PlotAxis
from voile.report.charts.svg import percent, tag
from voile.report.sections import IntervalChart, Strip
from voile.tables.fitting.paper.bisect import BisectSearch
from voile.tables.fitting.search import search
from voile.tables.fitting.searches.result import SearchResult
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.space import PolicySpace
from voile.tables.policies.policy import Policy
from voile.tables.policies.safe_harbor import SafeHarborWarning, safe_harbor

POLICIES = 14_780
SEEDS = {"random-chain": 20, "sublattice": 5}
ALTERNATIVES = 500
SECONDS = 60
FRONTIERS, INTERVALS = "frontier_beside_safe_harbor", "policies_that_beat_safe_harbor"
STEPS = 300  # of a staircase along either axis, that a picture shows
SQUARE = "M-6-6H6V6H-6Z"  # as in the report
COLUMNS = (
    "method",
    "evaluations",
    "policies kept",
    "beat Safe Harbor",
    "their mean distance from it",
    "most on one chain",
    f"of bisecting's {ALTERNATIVES}, they beat",
    "least loss at its risk",
)
PAPER = ("the paper, 739 bits", f"{POLICIES:,}", "796", "24", ".025", "23", "98%", "")


@dataclass(frozen=True)
class Pair:
    """The Tennessee pair, Safe Harbor on it, and what bisecting finds at no more risk."""

    space: PolicySpace
    safe_harbor: Policy
    risk: float
    loss: float
    alternatives: NDArray[np.float64]

    @classmethod
    def read(cls) -> Pair:
        here = folder("tennessee")
        space = PolicySpace.of(here / "adult.parquet", here / "population.parquet", QUASI)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SafeHarborWarning)
            rule = safe_harbor(space)
        risk, loss = (float(score[0]) for score in space.evaluate(rule.bits[None]))
        rng = np.random.default_rng(0)
        run = TablesSearchRun(
            space.evaluator, evaluations=sys.maxsize, seconds=None, rng=rng, progress=None
        )
        found = np.stack(list(islice(BisectSearch(risk).alternatives(run), ALTERNATIVES)))
        return cls(space, rule, risk, loss, np.stack(space.evaluate(found)))

    def figures(self, frontier: Frontier) -> list[float]:
        """Return the table's figures of one frontier."""
        beating = frontier.dominating(self.risk, self.loss)
        risk, loss, bits = (
            each[beating] for each in (frontier.risk, frontier.loss, frontier.policies)
        )
        return [
            len(frontier),
            len(beating),
            np.hypot(self.risk - risk, self.loss - loss).mean(),
            longest_chain(bits),
            beaten(self.alternatives, risk, loss),
            frontier.at(risk=self.risk).loss,
        ]


def longest_chain(bits: NDArray[np.bool_]) -> int:
    """Return how many of these policies lie on one chain at most."""
    bits = bits[np.argsort(bits.sum(axis=1))]
    longest = np.ones(len(bits), dtype=np.int64)
    for i, policy in enumerate(bits):
        more_general = ~(bits[:i] & ~policy).any(axis=1)
        longest[i] += (longest[:i] * more_general).max(initial=0)
    return int(longest.max(initial=0))


def beaten(points: NDArray[np.float64], risk: NDArray[np.float64], loss: np.ndarray) -> float:
    """Return the share of points (risk, loss) that policies dominate."""
    x, y = points[:, :, None]
    better = (risk <= x) & (loss <= y) & ((risk < x) | (loss < y))
    return float(better.any(axis=1).mean())


def row(pair: Pair, name: str, found: list[SearchResult]) -> tuple[str, ...]:
    figures = np.array([pair.figures(each.frontier) for each in found])
    evaluations = f"{np.mean([each.evaluations for each in found]):,.0f}"
    formats = ("{:,.0f}", "{:,.0f}", "{:.3f}", "{:,.0f}", "{:.0%}", "{:.3f}")
    cells = zip(formats, figures.mean(axis=0), figures.std(axis=0), strict=True)
    several = len(found) > 1
    shown = [f.format(mean) + (f" ({f.format(sd)})" if several else "") for f, mean, sd in cells]
    return (name, evaluations, *shown)


def plot(
    pair: Pair, frontiers: list[Frontier], across: PlotAxis, up: PlotAxis, *, near: bool
) -> Markup:
    """Draw the frontiers as staircases, and Safe Harbor; near it, also the policies."""

    def place(risk: np.ndarray, loss: np.ndarray) -> list[tuple[float, float]]:
        points = zip(risk.tolist(), loss.tolist(), strict=True)
        return [(across.place(x), 1 - up.place(y)) for x, y in points]

    lines = []
    for i, frontier in enumerate(frontiers):
        by_risk = np.searchsorted(frontier.risk, np.linspace(across.low, across.high, STEPS))
        by_loss = np.searchsorted(-frontier.loss, -np.linspace(up.low, up.high, STEPS))
        few = np.unique(np.minimum([*by_risk, *by_loss], len(frontier) - 1))
        stairs = place(np.repeat(frontier.risk[few], 2)[1:], np.repeat(frontier.loss[few], 2)[:-1])
        lines.append(svg.path(stairs, class_=f"line line-{i}"))
    dots = []
    if near:
        dots = [_dot(x, y, 3) for x, y in place(*pair.alternatives) if _inside(x, y)]
        for i, frontier in enumerate(frontiers[:2]):
            beating = frontier.dominating(pair.risk, pair.loss)
            spots = place(frontier.risk[beating], frontier.loss[beating])
            dots += [_dot(x, y, i) for x, y in spots]
    ((x, y),) = place(np.array([pair.risk]), np.array([pair.loss]))
    label = tag("text", "Safe Harbor", x=12, y=-8, class_="named")
    shape = tag("path", d=SQUARE, class_="mark mark-1")
    mark = tag("svg", shape, label, x=percent(x), y=percent(y), overflow="visible")
    return (
        axes.draw(across, up, shares=True)
        + svg.stretch_paths(*lines)
        + Markup("").join(dots)
        + mark
    )


def _inside(x: float, y: float) -> bool:
    return 0 <= x <= 1 and 0 <= y <= 1


def _dot(x: float, y: float, kind: int) -> Markup:
    return tag("circle", cx=percent(x), cy=percent(y), r=2.5, class_=f"dot dot-{kind}")


def draw_frontiers(pair: Pair, found: dict[str, Frontier]) -> None:
    """Save the frontiers beside Safe Harbor, whole and near it."""
    whole, frontiers = axes.linear([0, 1]), list(found.values())
    near = (
        PlotAxis(0, 0.1, (0, 0.02, 0.04, 0.06, 0.08, 0.1)),
        PlotAxis(0.2, 0.6, (0.2, 0.3, 0.4, 0.5, 0.6)),
    )
    names = "relative risk", "information lost"
    swatches = [
        (name, tag("path", d="M0 6H28", class_=f"line line-{i}")) for i, name in enumerate(found)
    ]
    swatches.append(
        (
            f"bisecting: {ALTERNATIVES} of no more risk",
            tag("circle", cx=14, cy=6, r=3, class_="dot-3"),
        )
    )
    picture.save(
        FRONTIERS,
        "Frontiers beside Safe Harbor; dots are the policies that beat it",
        [
            picture.panel(plot(pair, frontiers, whole, whole, near=False), *names, width=300),
            picture.panel(plot(pair, frontiers, *near, near=True), *names, left=460, width=300),
            *picture.legend(swatches, 450),
        ],
        790,
        494,
    )


def draw_intervals(pair: Pair, by_chains: Frontier, ours: Frontier) -> None:
    """Save Safe Harbor and some policies that beat it as intervals."""
    beating = by_chains.dominating(pair.risk, pair.loss)
    some = {"least risk": beating[0], "least loss": beating[-1]}
    named = {
        "Safe Harbor": pair.safe_harbor.bits,
        **{f"random-chain, {name}": by_chains.policies[i] for name, i in some.items()},
        "steepest, as much risk": ours.at(risk=pair.risk).policy,
    }
    bits = np.stack(list(named.values()))
    scores = zip(*pair.space.evaluate(bits), strict=True)
    policies = zip(named, scores, (pair.space.policy(each) for each in bits), strict=True)
    picture.save_intervals(
        INTERVALS,
        IntervalChart(
            tuple((f"{n} ({r:.3f}, {u:.3f})", strips(policy)) for n, (r, u), policy in policies),
            "Safe Harbor and policies that beat it, as intervals: values in one block of colour "
            "cannot be told from each other; in brackets relative risk and loss",
        ),
    )


def strips(policy: Policy) -> tuple[Strip, ...]:
    return tuple(
        Strip(d.column, tuple((i.label, i.width / len(d)) for i in policy.intervals[d.column]))
        for d in policy.domains
    )


def main() -> None:
    pair = Pair.read()
    limits: dict[str, Callable[[], list[SearchResult]]] = {
        method: lambda s=method, n=seeds: [
            search(pair.space, method=s, evaluations=POLICIES, random_state=seed)
            for seed in range(n)
        ]
        for method, seeds in SEEDS.items()
    }
    limits["steepest"] = lambda: [search(pair.space, method="steepest")]
    limits[f"best, {SECONDS} s"] = lambda: [search(pair.space, method="best", seconds=SECONDS)]
    rows, found = [PAPER], {}
    for name, find in limits.items():
        results = find()
        found[name] = results[0].frontier
        rows.append(row(pair, name, results))
    draw_frontiers(pair, {name: found[name] for name in ("random-chain", "sublattice", "steepest")})
    draw_intervals(pair, found["random-chain"], found["steepest"])
    worse = (pair.alternatives[1] >= pair.loss).mean()
    save(
        "against_safe_harbor",
        "Policies that beat Safe Harbor in risk and loss: no worse in either, better in one.\n"
        f"Tennessee; Safe Harbor has relative risk {pair.risk:.4f} and loss {pair.loss:.4f}.",
        COLUMNS,
        rows,
        f"Means of {SEEDS['random-chain']} seeds of random-chain and {SEEDS['sublattice']}\n"
        "of sublattice, and their standard deviations. Distance is Euclid's in (risk,\n"
        "loss). *Most on one chain*: the longest chain, each policy more general than the\n"
        "next, among those that beat Safe Harbor. *Bisecting* (Benitez et al.) gives\n"
        f"{ALTERNATIVES} policies of no more risk than Safe Harbor, and {worse:.0%} of them\n"
        f"lose no less. The column shows the share of the {ALTERNATIVES} that the policies\n"
        "better than Safe Harbor beat, counted as in the paper. Equal points count once\n"
        "here. About 750 of the paper's 796 are distinct.\n\n"
        f"![Frontiers beside Safe Harbor](../pictures/{FRONTIERS}.svg)\n\n"
        "Right: near Safe Harbor, dots are policies that beat it, and bisecting's.\n\n"
        f"![Safe Harbor and policies that beat it](../pictures/{INTERVALS}.svg)\n\n"
        "In brackets relative risk and loss.",
    )


if __name__ == "__main__":
    main()
