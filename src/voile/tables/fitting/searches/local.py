"""Search locally: flip one bit of each frontier policy until no new policy enters the frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.tables.fitting.searches import steepest
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.searches.slopes import LEAST_RISK

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import Policies

BATCH = 32


class FrontierNeighbourhood:
    """The neighbours of the frontier's policies, each policy visited once."""

    def __init__(self, run: TablesSearchRun) -> None:
        self._run = run
        self._free = np.flatnonzero(~run.required)
        self._seen: set[bytes] = set()
        self._twice: set[bytes] = set()

    def flip(self, evaluations: float = np.inf, *, twice: bool = False) -> bool:
        """Score about `evaluations` neighbours, and return False if no policy remained."""
        most = self._run.evaluations + evaluations
        going_on = False
        while self._run.evaluations < most and (self.step() or (twice and self.step_twice())):
            going_on = True
        return going_on

    def step(self) -> bool:
        """Score all neighbours of the most promising policies. Return False if none remains.

        Half of these policies have the largest steps next to them by risk, and half by the
        logarithm of risk. See `rooms`.
        """
        fresh = self._fresh(self._seen)
        if not len(fresh):
            return False
        orders = [fresh[np.argsort(-gain[fresh], kind="stable")] for gain in rooms(self._run.found)]
        chosen = np.unique(np.concatenate([order[: BATCH // 2] for order in orders]))
        self._seen.update(self._run.found.policies[i].tobytes() for i in chosen)
        self._flip(self._run.policies(chosen))
        return True

    def step_twice(self) -> bool:
        """Score all policies two flips from the most promising one, or return False.

        The result is False if no such policy remains.
        """
        fresh = self._fresh(self._twice)
        if not len(fresh):
            return False
        chosen = fresh[np.argmax(rooms(self._run.found)[0][fresh])]
        self._twice.add(self._run.found.policies[chosen].tobytes())
        one = self._run.policies([chosen])
        for some in np.array_split(self._free, -(-len(self._free) // BATCH)):
            self._flip(one ^ np.eye(self._run.n_bits, dtype=np.bool_)[some])
        return True

    def _fresh(self, seen: set[bytes]) -> NDArray[np.intp]:
        rows = self._run.found.policies
        return np.flatnonzero([row.tobytes() not in seen for row in rows])

    def _flip(self, policies: Policies) -> None:
        run, free = self._run, self._free
        sums = run.scorer.flips(policies)[:, free]

        def rows(which: NDArray[np.intp]) -> Policies:
            one, bit = np.divmod(which, len(free))
            made = policies[one]
            made[np.arange(len(which)), free[bit]] ^= True
            return made

        run.add(run.evaluator.normalise(sums.reshape(-1, 3)), rows)


def explore(run: TablesSearchRun) -> None:
    """Start from the steepest chain, and flip each bit of each frontier policy until none enters.

    Guarantee: unless the search is stopped, no policy one flip away from the frontier would enter
    it. Cost: O(attributes x cells) for the n_bits neighbours of a policy.
    """
    steepest.explore(run)
    FrontierNeighbourhood(run).flip()


def rooms(found: Frontier) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the area of the steps on both sides of each policy, by risk and by its logarithm.

    The area is an upper bound on the gain of better policies there.

    >>> along_risk, _ = rooms(Frontier.of([0, .5, 1], [1, .2, 0], np.zeros((3, 1))))
    >>> along_risk.round(2).tolist()
    [0.4, 0.5, 0.1]
    """
    drops = -np.diff(found.loss)

    def beside(risk: NDArray[np.float64]) -> NDArray[np.float64]:
        steps = np.diff(risk) * drops
        room: NDArray[np.float64] = np.append(steps, 0.0) + np.append(0.0, steps)
        return room

    return beside(found.risk), beside(np.log(np.maximum(found.risk, LEAST_RISK)))
