"""Implement the Sublattice Heuristic Search (Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, get_args

import numpy as np

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.tables.fitting.kernels.cells import SLACK
from voile.tables.fitting.paper.chains import CHAINS, Cuts, Order, draw_order, walk
from voile.tables.fitting.paper.clauses import PolicySublattice, PrunedSublattices
from voile.tables.fitting.scoring.evaluator import PolicyScores
from voile.tables.fitting.searches.run import DIGITS, TablesSearchRun

Initial = Literal["ends", "chain"]


@dataclass(frozen=True)
class FigureRectangle:
    """Bounds on the risk and the loss of all policies of a sublattice, from its two ends."""

    least_risk: float
    most_risk: float
    least_loss: float
    most_loss: float

    @classmethod
    def of(cls, ends: PolicyScores) -> FigureRectangle:
        """Return the rectangle between the scores of two policies, rounded as in a run."""
        risk, loss = np.sort(ends.risk).round(DIGITS), np.sort(ends.loss).round(DIGITS)
        return cls(float(risk[0]), float(risk[1]), float(loss[0]), float(loss[1]))


class SublatticeVerdict(Enum):
    PRUNE = "prune"
    SEARCH = "search"
    SKIP = "skip"


def update_probability(frontier: Frontier, rectangle: FigureRectangle) -> float:
    """Return H (eq. 1): the share of the rectangle that the frontier does not dominate.

    Between two neighbouring risks, the staircase's height is limited to the rectangle's: min(u_k,
    u_alpha) - u_beta. As printed, without this limit, H can exceed 1. For a rectangle without
    width, H is the share of its height. For one without height, it is the share of its width. A
    point counts 0 or 1.

    >>> frontier = Frontier.of([0, .5, 1], [1, .5, 0], np.zeros((3, 1)))
    >>> update_probability(frontier, FigureRectangle(.1, .3, .2, .4))
    1.0
    >>> round(update_probability(frontier, FigureRectangle(.4, .6, .4, .8)), 3)
    0.625
    """
    left, right = rectangle.least_risk, rectangle.most_risk
    low, high = rectangle.least_loss, rectangle.most_loss
    inside = frontier.risk[(frontier.risk > left) & (frontier.risk < right)]
    edges = np.concatenate([[left], inside, [right]])
    place = np.searchsorted(frontier.risk, edges[:-1], side="right")
    heights = np.concatenate([[np.inf], frontier.loss])[place]
    if high > low:
        shares = (np.clip(heights, low, high) - low) / (high - low)
    else:
        shares = (heights > low).astype(np.float64)
    if right > left:
        return float(min(np.diff(edges) @ shares / (right - left), 1.0))
    return float(shares[0])


def decide(frontier: Frontier, rectangle: FigureRectangle, threshold: float) -> SublatticeVerdict:
    """Return the verdict on a sublattice, by the first of the paper's conditions that applies.

    - Condition 1, the whole rectangle is dominated: it is pruned, since none of its policies can
      enter the frontier. A policy equal to one on the frontier does not enter.
    - Condition 2, none of it is dominated: a chain is searched.
    - Condition 3, H exceeds the threshold: a chain is searched. Otherwise it is skipped.
    """
    if _is_dominated(frontier, rectangle.least_risk, rectangle.least_loss):
        return SublatticeVerdict.PRUNE
    if not _is_dominated(frontier, rectangle.most_risk, rectangle.most_loss):
        return SublatticeVerdict.SEARCH
    if update_probability(frontier, rectangle) > threshold:
        return SublatticeVerdict.SEARCH
    return SublatticeVerdict.SKIP


def _is_dominated(frontier: Frontier, risk: float, loss: float) -> bool:
    return bool(((frontier.risk <= risk) & (frontier.loss <= loss)).any())


@dataclass(frozen=True)
class SublatticeSearch:
    """A search of random chains in sublattices that are likely to move the frontier (Algorithm 2).

    The search draws a random sublattice that overlaps no pruned one, and scores its two ends.
    `decide` then prunes it, skips it, or searches one random maximal chain in it. Without a limit,
    the number of evaluations is that of the policies of 20 chains.

    Parameters
    ----------
    threshold : TH, in [0, 1]. 0 searches everything that is not pruned. The paper does not specify
        it. benchmarks/sublattice.py compares several values.
    initial : `ends` starts from the lattice's top and bottom, `chain` from a random maximal chain.
    order : the order in which chains merge, see `draw_order`. The paper's is `bits`.
    free : the number of split points that a drawn sublattice leaves free, at least 1. None draws
        the number as well.

    The paper does not specify how to draw a sublattice while few are pruned. Here the split points
    that Algorithm 3 leaves free are put in random order. Two policies are drawn uniformly from the
    chain that merges in that order. The sublattice lies between them. Without suppression, no
    pruned policy could enter the frontier. With suppression, condition 1 is a heuristic.
    """

    threshold: float = 0.9
    initial: Initial = "ends"
    order: Order = "bits"
    free: int | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise RequestError("threshold must lie between 0 and 1")
        if self.initial not in get_args(Initial):
            raise RequestError(f"no initial frontier {self.initial!r}", instead="ends or chain")
        if self.free is not None and self.free < 1:
            raise RequestError("free must be at least 1")

    def __call__(self, run: TablesSearchRun) -> None:
        cuts = np.flatnonzero(~run.required)
        if len(cuts) < 2:
            return
        if self.initial == "chain":
            ones = np.ones(run.n_bits, dtype=np.bool_)
            walk(run, ones, draw_order(run, cuts, self.order))
        pruned = PrunedSublattices(run.n_bits)
        while run.limited or run.evaluations < CHAINS * len(cuts):
            found = pruned.draw(run.rng, run.required)
            if found is None:
                return
            drawn, chain = self._between(run, found)
            verdict = self.judge(run, drawn)
            if verdict is SublatticeVerdict.PRUNE:
                pruned.add(drawn)
            elif verdict is SublatticeVerdict.SEARCH and len(chain) > 1:
                walk(run, drawn.bottom, draw_order(run, chain, self.order))

    def _between(
        self, run: TablesSearchRun, wide: PolicySublattice
    ) -> tuple[PolicySublattice, Cuts]:
        """Return a sublattice between two policies of a chain of `wide`, and its free bits."""
        order = draw_order(run, np.flatnonzero(wide.bottom & ~wide.top), "bits")
        begin, end = self._places(run, len(order))
        top, bottom = wide.top.copy(), wide.bottom.copy()
        bottom[order[:begin]] = False
        top[order[end:]] = True
        return PolicySublattice(top, bottom), order[begin:end]

    def _places(self, run: TablesSearchRun, merges: int) -> tuple[int, int]:
        if self.free is None and merges:
            begin, end = np.sort(run.rng.choice(merges + 1, 2, replace=False))
            return int(begin), int(end)
        apart = min(self.free or 0, merges)
        begin = run.rng.integers(merges - apart + 1)
        return int(begin), int(begin) + apart

    def judge(self, run: TablesSearchRun, drawn: PolicySublattice) -> SublatticeVerdict:
        """Score both ends, and decide with the frontier before these scores.

        Generalising never suppresses more. If the top suppresses too much, all other policies do.
        """
        frontier = run.frontier()
        ends = np.stack([drawn.top, drawn.bottom])
        scores = run.evaluator.normalise(run.scorer.score(ends))
        run.add(scores, ends.__getitem__)
        if scores.suppressed[0] > run.evaluator.constraints.suppress + SLACK:
            return SublatticeVerdict.PRUNE
        return decide(frontier, FigureRectangle.of(scores), self.threshold)
