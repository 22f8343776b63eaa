"""What every strategy shares: the lattice it may use, its limits, and what it found so far."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.errors import InfeasibleError
from voile.frontier import Frontier
from voile.tables.counts import Constraints
from voile.tables.evaluator import Evaluator, Policies, Scores
from voile.tables.kernels.cells import SLACK
from voile.tables.searches.result import Checkpoint

DIGITS = 12


class Limit(Exception):  # noqa: N818, it ends a search and is no error
    """The search has used up its `evaluations` or `seconds`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class Run:
    """Collect what a strategy scores, on the lattice without the forbidden cuts.

    Strategies see `n_bits` cuts, of which `required` must stay, and the `scorer` of the lattice
    that forbidden cuts' merging leaves. `rng` is their only source of chance.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        *,
        evaluations: int | None,
        seconds: float | None,
        rng: np.random.Generator,
        progress: Callable[[Checkpoint], None] | None,
    ) -> None:
        self.evaluator = evaluator
        self.rng = rng
        self.limited = evaluations is not None or seconds is not None
        self.evaluations = 0
        self.checkpoints: list[Checkpoint] = []
        self._most = evaluations
        self._began = time.monotonic()
        self._deadline = None if seconds is None else self._began + seconds
        self._progress = progress
        self._bits = np.flatnonzero(~evaluator.forbidden)
        self.n_bits = len(self._bits)
        self.required = evaluator.required[self._bits]
        self._found = Frontier.of([], [], np.zeros((0, -(-evaluator.n_bits // 8)), np.uint8))
        self.scorer = evaluator.scorer

    def begin(self) -> None:
        """Score the most general and the most detailed policy allowed.

        Raises `InfeasibleError` when the first suppresses too much: then every policy does.
        """
        ends = np.stack([self.required, np.ones(self.n_bits, dtype=np.bool_)])
        scores = self.evaluator.scores(self.widen(ends))
        if scores.suppressed[0] > self.evaluator.constraints.suppress + SLACK:
            raise self._infeasible(scores.suppressed[0])
        self.add(scores, lambda indices: ends[indices])

    def add(self, scores: Scores, rows: Callable[[NDArray[np.intp]], Policies]) -> None:
        """Take in what was scored, up to the limit; `rows` makes the policies of indices.

        Scores are rounded to 12 decimals, so that equal policies' do not differ by rounding.
        """
        room = len(scores.risk)
        if self._most is not None:
            room = min(room, self._most - self.evaluations)
        allowed = self.evaluator.constraints.suppress + SLACK
        feasible = np.flatnonzero(scores.suppressed[:room] <= allowed)
        old = self._found

        def packed(kept: NDArray[np.intp]) -> NDArray[np.uint8]:
            new = kept[kept >= len(old)] - len(old)
            made = np.empty((len(kept), old.policies.shape[1]), dtype=np.uint8)
            made[kept < len(old)] = old.policies[kept[kept < len(old)]]
            made[kept >= len(old)] = np.packbits(self.widen(rows(feasible[new])), axis=1)
            return made

        self._found = Frontier.of(
            np.concatenate([old.risk, scores.risk[feasible].round(DIGITS)]),
            np.concatenate([old.loss, scores.loss[feasible].round(DIGITS)]),
            packed,
        )
        self.evaluations += room
        now = time.monotonic()
        self.checkpoints.append(Checkpoint(self.evaluations, now - self._began, self._found.area()))
        if self._progress is not None:
            self._progress(self.checkpoints[-1])
        if self.evaluations == self._most:
            raise Limit("evaluations")
        if self._deadline is not None and now >= self._deadline:
            raise Limit("seconds")

    def widen(self, rows: Policies) -> Policies:
        """Return policies of this lattice as policies of the whole one."""
        wide = np.zeros((len(rows), self.evaluator.n_bits), dtype=np.bool_)
        wide[:, self._bits] = rows
        return wide

    def frontier(self) -> Frontier:
        """Return what was found so far, policies as booleans."""
        return Frontier.of(self._found.risk, self._found.loss, self._policies)

    def drift(self, count: int) -> float:
        """Return by how much up to `count` of the scores found differ from scratch."""
        few = np.unique(np.linspace(0, len(self._found) - 1, count).astype(np.intp))
        risk, loss = self.evaluator.evaluate(self._policies(few))
        off = np.abs(np.concatenate([risk - self._found.risk[few], loss - self._found.loss[few]]))
        return float(off.max())

    def _policies(self, indices: NDArray[np.intp]) -> Policies:
        packed = self._found.policies[indices]
        return np.unpackbits(packed, axis=1, count=self.evaluator.n_bits).view(np.bool_)

    def _infeasible(self, suppressed: float) -> InfeasibleError:
        constraints, counts = self.evaluator.constraints, self.evaluator.counts
        top = self.widen(self.required[None, :])

        def dropped(asked: str) -> float:
            alone = Constraints(**{asked: getattr(constraints, asked)})
            return float(Evaluator(counts, alone).scores(top).suppressed[0])

        furthest = max(("k", "max_risk", "l_diversity"), key=dropped)
        furthest = f"{furthest} = {getattr(constraints, furthest):g}"
        return InfeasibleError(
            f"even the most general policy allowed suppresses {suppressed:.1%} of subjects, "
            f"{constraints.suppress:.1%} may be; {furthest} is furthest from being met",
            instead="ease it, raise suppress or require fewer cuts",
        )
