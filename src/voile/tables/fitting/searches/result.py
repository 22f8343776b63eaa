"""Define the input and the result of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from voile.core.frontier import Frontier
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator


class ScoredSpace(Protocol):
    """The interface of an object with an evaluator of policies."""

    @property
    def evaluator(self) -> PolicyEvaluator:
        """Return the evaluator, which scores policies and contains the constraints."""


@dataclass(frozen=True)
class SearchCheckpoint:
    """The progress of a search: scored policies, seconds, area of the frontier so far."""

    evaluations: int
    seconds: float
    area: float


@dataclass(frozen=True, eq=False)
class SearchHistory:
    """The checkpoints of a search as columns of equal length, with ascending evaluations."""

    evaluations: NDArray[np.int64]
    seconds: NDArray[np.float64]
    area: NDArray[np.float64]

    @classmethod
    def of(cls, checkpoints: Sequence[SearchCheckpoint]) -> SearchHistory:
        return cls(
            evaluations=np.array([c.evaluations for c in checkpoints], dtype=np.int64),
            seconds=np.array([c.seconds for c in checkpoints], dtype=np.float64),
            area=np.array([c.area for c in checkpoints], dtype=np.float64),
        )


@dataclass(frozen=True, eq=False)
class SearchResult:
    """A search's result: a frontier of feasible policies, (m, n_bits) bool, and its history.

    `stopped` is `finished`, `evaluations`, `seconds` or `interrupted`.
    """

    frontier: Frontier
    history: SearchHistory
    evaluations: int
    method: str
    stopped: str
