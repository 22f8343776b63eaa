"""Run a proof, and keep its bounds and the best policies found."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.tables.fitting.bounds.ascent import CLOSE, BoundAscent
from voile.tables.fitting.bounds.nesting import LatticeNesting
from voile.tables.fitting.bounds.pricing import price_intervals
from voile.tables.fitting.bounds.relaxation import IntervalRelaxation, ways
from voile.tables.fitting.kernels.cells import SLACK
from voile.tables.fitting.scoring.evaluator import Policies
from voile.tables.fitting.searches.interval import SearchAim, attributes_of, penalties, settle
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.policies.loss_bound import ProofProgress

Floats = NDArray[np.float64]

ROOM = 2**24
TINY = 1e-300


class BoundProof:
    """A proof that raises lower bounds for some weights and then for more.

    `SecondsUsed` is raised after the time limit. All arrays are in the order of `weights`.

    Attributes
    ----------
    floors : (combos, weights), the proved bounds on loss + weight x risk, before losses above 1 are
        clipped.
    seconds : (weights,) the times of the bounds.
    best : (weights,) the smallest values found.
    """

    def __init__(
        self,
        run: TablesSearchRun,
        seconds: float | None,
        progress: Callable[[ProofProgress], None] | None,
    ) -> None:
        self._began = time.monotonic()
        self._deadline = np.inf if seconds is None else self._began + seconds
        self._progress = progress
        self.run = run
        self._attributes = attributes_of(run)
        cells = run.evaluator.cells.coarsen(~run.evaluator.forbidden)
        self._nesting = LatticeNesting.of(cells, run.required)
        self.weights, self.seconds, self.best = np.zeros((3, 0))
        self.floors = np.zeros((len(self._nesting.combos), 0))

    def go(self, weights: Floats) -> None:
        """Bound more weights, and tighten these bounds in turn until no bound can be raised."""
        begun = len(self.weights)
        self._take(weights)
        outers = len(self._nesting.last)
        pairs = max(1, ROOM // (outers**2 * len(self.floors)))
        ascents = [
            self._relax(np.arange(begin, min(begin + pairs, len(self.weights))))
            for begin in range(begun, len(self.weights), pairs)
        ]
        raised = [True]
        while any(raised):
            raised = [self._step(*each) for each in ascents]

    def _take(self, weights: Floats) -> None:
        more = len(weights)
        self.weights = np.append(self.weights, weights)
        self.seconds = np.append(self.seconds, np.full(more, np.nan))
        self.best = np.append(self.best, _least(self.run.found, weights))
        self.floors = np.pad(self.floors, ((0, 0), (0, more)), constant_values=-np.inf)

    def _relax(
        self, which: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], IntervalRelaxation, BoundAscent]:
        relaxation = IntervalRelaxation(
            self._nesting, self.run.evaluator, self.weights[which], self._deadline
        )
        caps = self._caps()[which][relaxation.weight]
        pairs = np.arange(len(relaxation))
        for costs in price_intervals(relaxation, caps):
            bounds = ways(costs)[0][:, -1] - relaxation.rounding(pairs)
            self._raise(which, relaxation, pairs, bounds)
        live = np.flatnonzero(bounds < caps * (1 - CLOSE))
        return which, relaxation, BoundAscent(relaxation, live, costs[live], caps[live])

    def _step(
        self, which: NDArray[np.intp], relaxation: IntervalRelaxation, ascent: BoundAscent
    ) -> bool:
        """Take a step with one set of weights. Return False if no pair's bound can be raised."""
        caps = self._caps()[which][relaxation.weight[ascent.pairs]]
        if not len(ascent.active(caps)):
            return False
        try:
            self._meet(ascent.step(caps))
        finally:  # the results of an interrupted step are proved as well
            self._raise(which, relaxation, ascent.pairs, ascent.bounds)
        return True

    def _raise(
        self,
        which: NDArray[np.intp],
        relaxation: IntervalRelaxation,
        pairs: NDArray[np.intp],
        bounds: Floats,
    ) -> None:
        before = self.floors.min(axis=0)
        combo, weight = relaxation.combo[pairs], which[relaxation.weight[pairs]]
        np.maximum.at(self.floors, (combo, weight), bounds)
        now = time.monotonic() - self._began
        bound = self.floors.min(axis=0)
        self.seconds[bound > before] = now
        if self._progress is not None:
            proved = bound > 0
            gap = 1 - (bound / np.maximum(self._caps(), TINY))[proved]
            self._progress(ProofProgress(now, int(proved.sum()), float(gap.max(initial=0.0))))

    def _meet(self, policies: Policies) -> None:
        """Score the relaxation's policies, and improve the best policy of a weight."""
        if not len(policies):
            return
        rows = np.unique(policies, axis=0)
        scores = self.run.evaluator.scores(self.run.widen(rows))
        allowed = scores.suppressed <= self.run.evaluator.constraints.suppress + SLACK
        found = Frontier.of(scores.risk[allowed], scores.loss[allowed], rows[allowed])
        least = _least(found, self.weights)
        better = least < self.best * (1 - CLOSE)
        if better.any():
            self.run.add(scores, lambda indices: rows[indices])
            for weight, penalty in itertools.product(self.weights[better], penalties(self.run)):
                aim, start = SearchAim(float(weight), penalty), self.run.best_for(float(weight))
                settle(self.run, self._attributes, start, aim, near=True)
            self.best = _least(self.run.found, self.weights)

    def _caps(self) -> Floats:
        """Return the unclipped loss + weight x risk above which policies cannot beat the best.

        Clipping reduces a loss by at most the share that may be suppressed, and only if it is above
        1.
        """
        suppress = self.run.evaluator.constraints.suppress
        return np.where(self.best > 1, self.best + suppress, self.best)


def _least(found: Frontier, weights: Floats) -> Floats:
    """Return the least loss + weight x risk for each weight, or infinity without policies."""
    values = found.loss + weights[:, None] * found.risk
    least: Floats = values.min(axis=1, initial=np.inf)
    return least
