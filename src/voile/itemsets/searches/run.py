"""The common state of searches: the features to choose from, the limits, the best set so far."""

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
    """The search has used up its `evaluations` or `seconds`."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class RemainingLimits(TypedDict):
    """The limits that a search may still use up."""

    evaluations: int | None
    seconds: float | None


@dataclass(frozen=True, eq=False)
class SetUtility:
    """The utility of a set: `weights` of a modular one, else a function of rows and labels."""

    name: str
    weights: Weights | None
    rows: Incidence
    labels: RowLabels | None

    @classmethod
    def of(cls, utility: str | ArrayLike, rows: Incidence, y: LabelsLike | None) -> SetUtility:
        """Read a utility's name, or a user's weights; see `weights_for`."""
        labels = None if y is None else RowLabels.of(y, rows.n_rows)
        if isinstance(utility, str) and utility in SET_FUNCTIONS:
            if labels is None:
                raise RequestError(f"{utility} needs a label", instead="use the utility coverage")
            return cls(utility, None, rows, labels)
        name = utility if isinstance(utility, str) else "weights"
        return cls(name, weights_for(utility, rows, labels), rows, labels)

    def among(self, features: NDArray[np.integer]) -> SetUtility:
        """Return the utility of which no other feature has a part."""
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
        """Return a set's utility; CM as the share of rows with their group's majority label."""
        if self.weights is not None:
            return float(np.sort(self.weights[features]).sum())
        assert self.labels is not None
        if self.name == "distcnt":
            return distcnt(self.rows, self.labels, features)
        return 1 - classification_metric(self.rows, self.labels, features)


class ItemsetsSearchRun:
    """Build feasible sets, keep the best, and stop at the limits.

    The `candidates` are features that may be published alone. If the utility is modular, their
    weight is above 0. With `among`, they are some of it. The `given` features are in every
    set. `rng` is the searches' only source of chance. `without` are the features chosen without
    each of the `folds` of people, if there are any.
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
        """The weights of a modular utility; refused where there are none."""
        if self.worth.weights is None:
            raise RequestError(
                f"{self.worth.name} has no weights for each feature",
                instead="use the method greedy, maximal or paper-distcnt with it",
            )
        return self.worth.weights

    def fill(self, order: Indices, *, known: Iterable[int] = (), stop: bool = False) -> None:
        """Add the features of `order` that may join the feasible set `known`, and offer the set.

        With `stop`, end at the first that may not. Time is checked between blocks of about four
        million ones; the set built until then is offered as well.
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
        """Keep a feasible set when its utility is the largest so far, or it is the first."""
        utility = self.worth(features)
        if utility > self.utility or not len(self.best):
            self.best, self.utility = np.sort(features).astype(np.int32), utility

    def take(self, other: ItemsetsSearchRun) -> None:
        """Put the best set of a run on the same rows in the place of this one's."""
        self.best, self.utility = other.best, self.worth(other.best)
        self.bound = other.bound if other.worth.name == self.worth.name else None

    @property
    def remaining_limits(self) -> RemainingLimits:
        """The remaining limits."""
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
        """Return how many evaluations may be made at once: `most`, or fewer at the limit."""
        return most if self._most is None else min(most, self._most - self.evaluations)

    def check_time(self) -> None:
        if self._deadline is not None and time.monotonic() >= self._deadline:
            raise ItemsetsSearchLimit("seconds")
