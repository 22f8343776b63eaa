"""The common state of searches: candidate features, limits, and the best set so far."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.itemsets.measures.classification import CrossValidation, RocArea
from voile.itemsets.measures.feasibility import Constraint, FeasibleSet
from voile.itemsets.measures.utility import Weights, classification_metric, distcnt, weights_for
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import LabelsLike, RowLabels

BLOCK = 2**22
SET_FUNCTIONS = ("distcnt", "cm")

Indices = NDArray[np.int32]


class ItemsetsSearchLimit(Exception):  # noqa: N818, it ends a search and is not an error
    """The search has used all of its `evaluations` or `seconds`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class RemainingLimits(TypedDict):
    """The evaluations and seconds that a search may still use."""

    evaluations: int | None
    seconds: float | None


@dataclass(frozen=True, eq=False)
class SetUtility:
    """The utility of a set: `weights` if it is modular, otherwise a function of rows and labels."""

    name: str
    weights: Weights | None
    rows: Incidence
    labels: RowLabels | None

    @classmethod
    def of(cls, utility: str | ArrayLike, rows: Incidence, y: LabelsLike | None) -> SetUtility:
        """Return a utility by its name or from given weights. See `weights_for`."""
        labels = None if y is None else RowLabels.of(y, rows.n_rows)
        if isinstance(utility, str) and utility in SET_FUNCTIONS:
            if labels is None:
                raise RequestError(f"{utility} needs a label", instead="use the utility coverage")
            return cls(utility, None, rows, labels)
        name = utility if isinstance(utility, str) else "weights"
        return cls(name, weights_for(utility, rows, labels), rows, labels)

    def among(self, features: NDArray[np.integer]) -> SetUtility:
        """Return the same utility with a weight of 0 for all other features."""
        if self.weights is None:
            return self
        weights = np.zeros_like(self.weights)
        weights[features] = self.weights[features]
        return replace(self, weights=weights)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        assert self.labels is not None
        return self.labels.table(self.rows)

    def __call__(self, features: NDArray[np.integer]) -> float:
        """Return the utility of a set.

        CM is returned as the share of rows with the majority label.
        """
        if self.weights is not None:
            return float(np.sort(self.weights[features]).sum())
        assert self.labels is not None
        if self.name == "distcnt":
            return distcnt(self.rows, self.labels, features)
        return 1 - classification_metric(self.rows, self.labels, features)


class ItemsetsSearchRun:
    """The state of a search that builds feasible sets, keeps the best, and stops at the limits.

    `candidates` are the features that may be published alone, with a weight above 0 if the utility
    is modular. With `among`, they are limited to those features. The `given` features are in every
    set. `rng` is the only source of randomness of the searches. `without` are the features chosen
    without each of the `folds` of people, if there are any.
    """

    def __init__(
        self,
        worth: SetUtility,
        constraint: Constraint,
        *,
        evaluations: int | None,
        seconds: float | None,
        rng: np.random.Generator,
        unique: float = 1.0,
        given: Indices | None = None,
        among: NDArray[np.integer] | None = None,
        folds: CrossValidation | None = None,
    ) -> None:
        self.rows = worth.rows
        self.worth = worth
        self.constraint = constraint
        self.given = np.zeros(0, dtype=np.int32) if given is None else np.sort(given)
        self.state = FeasibleSet(self.rows, constraint, self.given)
        may = constraint.candidates(self.rows)
        weighs = np.ones(len(may), np.bool_) if worth.weights is None else worth.weights[may] > 0
        self.among = among
        some = may[weighs] if among is None else np.intersect1d(may[weighs], among)
        self.candidates: Indices = np.setdiff1d(some, self.given).astype(np.int32)
        self.rng = rng
        self.unique = unique
        self.folds = folds
        self.seconds = seconds
        self.limited = evaluations is not None or seconds is not None
        self.evaluations = 0
        self.best: Indices = self.given
        self.utility = worth(self.best)
        self.bound: float | None = None
        self.tried: dict[str, RocArea] = {}
        self.without: tuple[Indices, ...] | None = None
        self._most = evaluations
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def weights(self) -> Weights:
        """The weights of a modular utility. Raises RequestError for any other utility."""
        if self.worth.weights is None:
            raise RequestError(
                f"{self.worth.name} has no weights for each feature",
                instead="use the method greedy, maximal or paper-distcnt with it",
            )
        return self.worth.weights

    def fill(self, order: Indices, *, known: Iterable[int] = (), stop: bool = False) -> None:
        """Add the features of `order` that may join the feasible set `known`, and offer the set.

        With `stop`, the first refused feature ends the search. Time is checked between blocks of
        about four million ones. At a limit, the set built so far is offered.
        """
        self.state.reset()
        for x in known:
            if x not in self.given:
                self.state.join(x)
        ends = np.cumsum(self.rows.supports[order]) // BLOCK
        try:
            for block in np.split(order, np.flatnonzero(np.diff(ends)) + 1):
                if len(self.state.extend(block, stop=stop)) < len(block) and stop:
                    break
                self.check_time()
        finally:
            self.offer(self.state.features)
        self.spend(1)

    def offer(self, features: NDArray[np.integer]) -> None:
        """Record a feasible set if it is the first, or has the largest utility so far."""
        utility = self.worth(features)
        if utility > self.utility or not len(self.best):
            self.best, self.utility = np.sort(features).astype(np.int32), utility

    def take(self, other: ItemsetsSearchRun) -> None:
        """Replace the best set of this run by that of another run on the same rows."""
        self.best, self.utility = other.best, self.worth(other.best)
        self.bound = other.bound if other.worth.name == self.worth.name else None

    @property
    def remaining_limits(self) -> RemainingLimits:
        """The remaining evaluations and seconds, None for no limit."""
        most, end = self._most, self._deadline
        return {
            "evaluations": None if most is None else most - self.evaluations,
            "seconds": None if end is None else end - time.monotonic(),
        }

    def spend(self, evaluations: int) -> None:
        self.evaluations += evaluations
        if self._most is not None and self.evaluations >= self._most:
            raise ItemsetsSearchLimit("evaluations")
        self.check_time()

    def room(self, most: int) -> int:
        """Return the number of evaluations to make at once: `most`, or fewer near the limit."""
        return most if self._most is None else min(most, self._most - self.evaluations)

    def check_time(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise ItemsetsSearchLimit("seconds")
