"""Pareto local search: flip one cut of each frontier policy until nothing new enters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.frontier import Frontier
from voile.tables.searches import steepest
from voile.tables.searches.run import Run

if TYPE_CHECKING:
    from voile.tables.evaluator import Policies

BATCH = 32


class Neighbourhood:
    """Go through the neighbours of the frontier's policies, each policy once."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._free = np.flatnonzero(~run.required)
        self._seen: set[bytes] = set()

    def step(self) -> bool:
        """Score all neighbours of the most promising policies; False when none is left."""
        found = self._run.frontier()
        packed = np.packbits(found.policies, axis=1)
        fresh = np.array([row.tobytes() not in self._seen for row in packed])
        fresh = np.flatnonzero(fresh)
        if not len(fresh):
            return False
        chosen = fresh[np.argsort(-room(found)[fresh], kind="stable")[:BATCH]]
        self._seen.update(packed[i].tobytes() for i in chosen)
        self._flip(found.policies[chosen][:, ~self._run.evaluator.forbidden])
        return True

    def _flip(self, policies: Policies) -> None:
        run, free = self._run, self._free
        sums = run.scorer.flips(policies)[:, free]

        def rows(which: NDArray[np.intp]) -> Policies:
            one, bit = np.divmod(which, len(free))
            made = policies[one]
            made[np.arange(len(which)), free[bit]] ^= True
            return made

        run.add(run.evaluator.normalised(sums.reshape(-1, 3)), rows)


def explore(run: Run) -> None:
    """Start from the steepest chain; flip each cut of each frontier policy until nothing enters.

    All policies one cut away from a policy are scored together, splits like merges, from its own
    cells. Policies with the widest gaps beside them come first.

    Guarantee: unless stopped, no policy one cut away from the frontier would enter it. Cost:
    O(attributes x cells) for the n_bits neighbours of a policy.
    """
    steepest.explore(run)
    neighbourhood = Neighbourhood(run)
    while neighbourhood.step():
        pass


def room(found: Frontier) -> NDArray[np.float64]:
    """Return the area of the steps on both sides of each policy: what better ones could gain.

    >>> room(Frontier.of([0, .5, 1], [1, .2, 0], np.zeros((3, 1)))).round(2).tolist()
    [0.4, 0.5, 0.1]
    """
    steps: NDArray[np.float64] = np.diff(found.risk) * -np.diff(found.loss)
    beside: NDArray[np.float64] = np.append(steps, 0.0) + np.append(0.0, steps)
    return beside
