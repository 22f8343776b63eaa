"""Hold a proof's result: a bound on all policies, next to the best found policies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.frontier import Frontier
from voile.tables.policies import envelope

Floats = NDArray[np.float64]

OPTIMAL = 1e-6


@dataclass(frozen=True)
class ProofProgress:
    """How far a proof is: seconds passed, weights bounded, and the largest gap of these."""

    seconds: float
    bounded: int
    gap: float


@dataclass(frozen=True, eq=False)
class LossBound:
    """A lower bound on loss + weight x relative risk of every policy allowed, by rising weight.

    NaN in `bound` and `gap` where the proof was stopped before it had anything.

    bound : proved: no policy that the constraints allow has less.
    best : the least that a policy of `frontier` has.
    gap : (best - bound) / best: so much better a policy may be, at most; 0 where best is 0.
    seconds : when the bound was last raised, since the proof began.
    floors : (combos, weights), the same by the partition of all attributes but the two largest.
    least_risk : proved: no policy allowed has less.
    frontier : the policies given and those met on the way, (m, n_bits) booleans.
    """

    weight: Floats
    bound: Floats
    best: Floats
    gap: Floats
    seconds: Floats
    floors: Floats
    least_risk: float
    frontier: Frontier
    stopped: str

    @classmethod
    def none(cls, weights: Floats, frontier: Frontier, stopped: str) -> LossBound:
        best = (frontier.loss + weights[:, None] * frontier.risk).min(axis=1, initial=np.inf)
        nothing, floors = np.full(len(weights), np.nan), np.zeros((1, len(weights)))
        return cls(weights, nothing, best, nothing, nothing, floors, 0.0, frontier, stopped)

    @property
    def optimal(self) -> NDArray[np.bool_]:
        """Return where the best found policy is proved best, to a millionth."""
        return np.asarray(self.gap <= OPTIMAL)

    @property
    def area(self) -> float:
        """Lower bound on the area under any staircase; 0 where nothing is proved."""
        return envelope.area(self.weight, self.floors, self.least_risk)

    @property
    def hull(self) -> float:
        """Area under the convex hull of `frontier`: what weighted sums alone could prove."""
        return envelope.hull(self.frontier)

    @property
    def staircase(self) -> float:
        """Area under the staircase of `frontier`."""
        return self.frontier.area()

    def least_loss(self, risk: ArrayLike) -> Floats:
        """Return a lower bound on the loss of any policy of at most this risk, 1 if none."""
        return envelope.least_loss(risk, self.weight, self.floors, self.least_risk)

    def frame(self) -> dict[str, Floats]:
        names = ("weight", "bound", "best", "gap", "seconds")
        return {name: getattr(self, name) for name in names}
