"""Share a run's state among all methods: the lattice, the limits, and the found policies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import InfeasibleError
from voile.core.frontier import Frontier
from voile.tables.fitting.kernels.cells import SLACK
from voile.tables.fitting.kernels.scorer import PolicyScorer
from voile.tables.fitting.scoring.evaluator import Policies, PolicyEvaluator, PolicyScores
from voile.tables.fitting.searches.result import SearchCheckpoint
from voile.tables.people.counts import Constraints

ASKED = ("k", "max_risk", "l_diversity", "entropy_l", "t_closeness")
DIGITS = 12
STRIPS = 4096

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class TablesSearchLimit(Exception):  # noqa: N818, it ends a search and is not an error
    """Signal that the search has used up its `evaluations` or `seconds`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class TablesSearchRun:
    """The scored policies of a method, on the lattice without the forbidden split points.

    Search methods see `n_bits` split points, of which the `required` ones must stay. They also see
    the `scorer` of the lattice with the forbidden split points merged. `rng` is their only source
    of randomness.
    """

    def __init__(
        self,
        evaluator: PolicyEvaluator,
        *,
        evaluations: int | None,
        seconds: float | None,
        rng: np.random.Generator,
        progress: Callable[[SearchCheckpoint], None] | None,
    ) -> None:
        self.evaluator = evaluator
        self.rng = rng
        self.limited = evaluations is not None or seconds is not None
        self.evaluations = 0
        self.taken_up = 0  # number of policies from an earlier search
        self.checkpoints: list[SearchCheckpoint] = []
        self._most = evaluations
        self._began = time.monotonic()
        self._deadline = None if seconds is None else self._began + seconds
        self._progress = progress
        self.found = Frontier.of([], [], np.zeros((0, -(-evaluator.n_bits // 8)), np.uint8))
        self._area = 1.0
        self._scorer: PolicyScorer | None = None
        self._see(np.flatnonzero(~evaluator.forbidden), None)

    @property
    def scorer(self) -> PolicyScorer:
        """Return the scorer of the lattice that search methods see."""
        if self._scorer is None:
            self._scorer = self.evaluator.scorer
        return self._scorer

    @contextmanager
    def on_floor(self, floor: Policies) -> Iterator[None]:
        """Restrict the run to the split points of `floor`, (n_bits of the table,) bool.

        Scores stay exact: all policies without other split points are sums over the floor's cells.
        """
        before = self._bits, self._scorer
        self._see(np.flatnonzero(floor), self.evaluator.scorer_on(floor))
        try:
            yield
        finally:
            self._see(*before)

    def _see(self, bits: Indices, scorer: PolicyScorer | None) -> None:
        self._bits, self._scorer = bits, scorer
        self.n_bits, self.required = len(bits), self.evaluator.required[bits]

    def begin(self) -> None:
        """Score the two ends of the lattice.

        Raises
        ------
        InfeasibleError : the most general policy is not allowed, so no policy is.
        """
        ends = np.stack([self.required, np.ones(self.n_bits, dtype=np.bool_)])
        scores = self.evaluator.scores(self.widen(ends))
        if scores.suppressed[0] > self.evaluator.constraints.suppress + SLACK:
            raise self._infeasible(scores.suppressed[0])
        self.add(scores, lambda indices: ends[indices])

    def add(self, scores: PolicyScores, rows: Callable[[Indices], Policies]) -> bool:
        """Add scored policies, up to the limit, and return whether one entered the frontier.

        Raises
        ------
        TablesSearchLimit : the evaluations or seconds are used up.
        """
        room = len(scores.risk)
        if self._most is not None:
            room = min(room, self._most - self.evaluations)
        entered = self.take(
            PolicyScores(scores.risk[:room], scores.loss[:room], scores.suppressed[:room]), rows
        )
        self.evaluations += room
        now = time.monotonic()
        self.checkpoints.append(SearchCheckpoint(self.evaluations, now - self._began, self._area))
        if self._progress is not None:
            self._progress(self.checkpoints[-1])
        if self.evaluations == self._most:
            raise TablesSearchLimit("evaluations")
        if self._deadline is not None and now >= self._deadline:
            raise TablesSearchLimit("seconds")
        return entered

    def take(self, scores: PolicyScores, rows: Callable[[Indices], Policies]) -> bool:
        """Add policies to the frontier, and return whether one entered.

        `rows` returns the policies of indices, on this lattice. Scores are rounded to 12 decimals,
        so that rounding errors do not distinguish equal policies.
        """
        risk, loss = scores.risk.round(DIGITS), scores.loss.round(DIGITS)
        allowed = scores.suppressed <= self.evaluator.constraints.suppress + SLACK
        some = self._below(risk, loss, allowed)
        if len(some):
            self._enter(risk[some], loss[some], lambda which: rows(some[which]))
            self._area = self.found.area()
        return len(some) > 0

    def _below(self, risk: Floats, loss: Floats, allowed: NDArray[np.bool_]) -> Indices:
        """Return the allowed points below the staircase. Strips of it reject most points quickly.

        The strips are even in the square root of risk, so that they are narrow where the frontier
        is steep.
        """
        least = np.concatenate([[np.inf], self.found.loss])
        edges = (np.arange(STRIPS + 1) / STRIPS) ** 2
        strips = least[np.searchsorted(self.found.risk, edges, side="right")]
        some = np.flatnonzero(allowed & (loss < strips[(np.sqrt(risk) * STRIPS).astype(np.intp)]))
        left = np.searchsorted(self.found.risk, risk[some], side="right")
        return some[loss[some] < least[left]]

    def _enter(self, risk: Floats, loss: Floats, rows: Callable[[Indices], Policies]) -> None:
        old = self.found

        def packed(kept: Indices) -> NDArray[np.uint8]:
            new = kept >= len(old)
            made = np.empty((len(kept), old.policies.shape[1]), dtype=np.uint8)
            made[~new] = old.policies[kept[~new]]
            if new.any():
                made[new] = np.packbits(self.widen(rows(kept[new] - len(old))), axis=1)
            return made

        self.found = Frontier.of(
            np.concatenate([old.risk, risk]), np.concatenate([old.loss, loss]), packed
        )

    def widen(self, rows: Policies) -> Policies:
        """Return policies of this lattice as policies of the whole lattice."""
        wide = np.zeros((len(rows), self.evaluator.n_bits), dtype=np.bool_)
        wide[:, self._bits] = rows
        return wide

    def frontier(self) -> Frontier:
        return Frontier.of(self.found.risk, self.found.loss, self._policies)

    def best_for(self, weight: float) -> Policies:
        """Return the found policy with the least loss + weight x relative risk, (n_bits,) bool."""
        best = int(np.argmin(self.found.loss + weight * self.found.risk))
        policy: Policies = self.policies([best])[0]
        return policy

    def policies(self, indices: ArrayLike) -> Policies:
        """Return found policies, on this lattice."""
        rows = self._policies(np.asarray(indices, dtype=np.intp))[:, self._bits]
        return np.ascontiguousarray(rows)  # kernels are compiled for this layout only

    def drift(self, count: int) -> float:
        """Return the largest difference of up to `count` found scores from scores from scratch."""
        few = np.unique(np.linspace(0, len(self.found) - 1, count).astype(np.intp))
        risk, loss = self.evaluator.evaluate(self._policies(few))
        off = np.abs(np.concatenate([risk - self.found.risk[few], loss - self.found.loss[few]]))
        return float(off.max())

    def _policies(self, indices: NDArray[np.intp]) -> Policies:
        packed = self.found.policies[indices]
        rows: Policies = np.unpackbits(packed, axis=1, count=self.evaluator.n_bits).view(np.bool_)
        return rows

    def _infeasible(self, suppressed: float) -> InfeasibleError:
        constraints = self.evaluator.constraints
        return InfeasibleError(
            f"even the most general policy allowed suppresses {suppressed:.1%} of subjects, "
            f"{constraints.suppress:.1%} may be; {self._clash()}",
            instead="ease it, raise suppress or require fewer cuts",
        )

    def _clash(self) -> str:
        """Return which constraints cannot be met: the furthest single one, or else the fewest."""
        constraints, counts = self.evaluator.constraints, self.evaluator.counts
        top = self.widen(self.required[None, :])

        def dropped(asked: tuple[str, ...]) -> float:
            alone = Constraints(**{name: getattr(constraints, name) for name in asked})
            return float(PolicyEvaluator(counts, alone).scores(top).suppressed[0])

        for many in range(1, len(ASKED) + 1):
            furthest = max(combinations(ASKED, many), key=dropped)
            if many == len(ASKED) or dropped(furthest) > constraints.suppress + SLACK:
                break
        names = [f"{name} = {getattr(constraints, name):g}" for name in furthest]
        if many == 1:
            return f"{names[0]} is furthest from being met"
        return f"{', '.join(names[:-1])} and {names[-1]} can only be met apart"
