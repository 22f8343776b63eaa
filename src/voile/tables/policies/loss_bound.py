"""Define the result of a proof: a bound on all policies, with the best policies found."""

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
    """The progress of a proof: seconds passed, weights bounded, and their largest gap."""

    seconds: float
    bounded: int
    gap: float


@dataclass(frozen=True, eq=False)
class LossBound:
    """A lower bound on loss + weight x relative risk of every allowed policy, by ascending weight.

    `bound` and `gap` are NaN if the proof was stopped before its first result.

    Attributes
    ----------
    weight : (weights,) the weights, ascending.
    bound : proved: no allowed policy has a smaller weighted sum.
    best : the smallest weighted sum of a policy of `frontier`.
    gap : (best - bound) / best, the largest possible relative improvement. 0 if `best` is 0.
    seconds : the time since the proof began at which the bound was last raised.
    floors : (combos, weights), the same bounds by the partition of all attributes except the two
        largest.
    least_risk : proved: no allowed policy has a smaller risk.
    frontier : the given policies and those found during the proof, (m, n_bits) booleans.
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
        """Return a mask of the weights at which the best policy is optimal, to a millionth."""
        return np.asarray(self.gap <= OPTIMAL)

    @property
    def area(self) -> float:
        """Return a lower bound on the area under any staircase, or 0 if nothing is proved."""
        return envelope.area(self.weight, self.floors, self.least_risk)

    @property
    def hull(self) -> float:
        """Return the area under the convex hull of `frontier`, the limit of weighted sums."""
        return envelope.hull(self.frontier)

    @property
    def staircase(self) -> float:
        """Return the area under the staircase of `frontier`."""
        return self.frontier.area()

    def least_loss(self, risk: ArrayLike) -> Floats:
        """Return a lower bound on the loss of any policy of at most this risk, or 1 if none."""
        return envelope.least_loss(risk, self.weight, self.floors, self.least_risk)

    def frame(self) -> dict[str, Floats]:
        names = ("weight", "bound", "best", "gap", "seconds")
        return {name: getattr(self, name) for name in names}
