"""Greedy by what features tell together, with few rows left unique.

A feature that tells much alone may tell nothing beside those chosen, and makes rows unique all
the same. So each pick is the one that adds most to what the chosen tell of the label together.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.errors import RequestError
from voile.itemsets.feasible import Constraint, Feasible
from voile.itemsets.incidence import Incidence
from voile.itemsets.searches import Selection
from voile.itemsets.searches.run import Worth

TINY = 1e-9
Indices = NDArray[np.int32]


def joint(
    worth: Worth, constraint: Constraint, *, unique: float = 1.0, seconds: float | None = None
) -> Selection:
    """Choose features that meet a constraint and leave few rows that nobody else's equals.

    Picks what adds most to the mutual information of all chosen features and the label, as long
    as something adds; then, and where there are no labels, by weight. What may not join is
    skipped, and never tried again: like the constraint, a limit on unique rows is closed
    downwards.

    Parameters
    ----------
    worth : what features are worth; what weighs 0 or less is never chosen.
    unique : the largest share of rows that may be unique (of one subject alone), in [0, 1].
    seconds : when to stop, > 0. Ctrl-C as well returns what there is.

    Returns
    -------
    Selection : maximal among the features that weigh something, unless stopped; empty where the
        limit leaves none.

    Guarantee: feasible, within the limit; no bound on what it is worth (measured in benchmarks).
    Cost: O(ones) a pick, and O(patterns) once a feature.

    Raises
    ------
    InfeasibleError : no feature meets the constraint.
    RequestError : a share out of range.

    >>> rows = Incidence.of(np.array([[1, 1, 0, 1], [1, 1, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0]] * 5))
    >>> worth = Worth.of("mutual-information", rows, [0, 1, 1, 0] * 5)
    >>> joint(worth, Constraint(k=5)).features.tolist()
    [2, 3]
    """
    if not 0 <= unique <= 1:
        raise RequestError("unique must be a share from 0 to 1")
    weights = np.ones(len(worth.rows.features)) if worth.weights is None else worth.weights
    left = constraint.candidates(worth.rows).astype(np.int32)
    left = left[weights[left] > 0]
    left = left[np.argsort(-weights[left], kind="stable")]
    picking = _Picking.of(worth, constraint, int(unique * worth.rows.n_rows + TINY))
    deadline = np.inf if seconds is None else time.monotonic() + seconds
    try:
        stopped = picking.pick(left, deadline)
    except KeyboardInterrupt:
        stopped = "interrupted"
    features = np.sort(picking.state.features)
    return Selection(
        features=features,
        utility=worth(features),
        utility_name=worth.name,
        bound=None,
        constraint=constraint,
        evaluations=1,
        method="joint",
        stopped=stopped,
    )


@dataclass(frozen=True, eq=False)
class _Picking:
    """The set so far, and what decides whether a feature may join it."""

    rows: Incidence
    state: Feasible
    table: NDArray[np.int64]
    most: int
    counts: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    @classmethod
    def of(cls, worth: Worth, constraint: Constraint, most: int) -> _Picking:
        rows = worth.rows
        whose = np.arange(rows.n_rows) if rows.subject is None else rows.subject
        first = np.full(len(rows.own), rows.n_rows, dtype=np.int64)
        last = np.full(len(rows.own), -1, dtype=np.int64)
        np.minimum.at(first, rows.pattern, whose)
        np.maximum.at(last, rows.pattern, whose)
        counts = np.bincount(rows.pattern)
        table = counts[:, None] if worth.labels is None else worth.table
        return cls(rows, Feasible(rows, constraint), table, most, counts, first, last)

    def pick(self, left: Indices, deadline: float) -> str:
        """Put in what tells most, again and again, then the others in order; say why it ended."""
        while len(left):
            gains = self._gains(left)
            telling = np.argsort(-gains, kind="stable")[: int((gains > TINY).sum())]
            order = left[telling] if len(telling) else left
            tried = 0
            for x in order.tolist():
                if time.monotonic() >= deadline:
                    return "seconds"
                tried += 1
                if self._join(x) and len(telling):
                    break
            left = left[~np.isin(left, order[:tried])]
        return "finished"

    def _gains(self, features: Indices) -> NDArray[np.float64]:
        """Return the bits that each would add, summed over rows; 0 where there are no labels."""
        from voile.itemsets.kernels.gains import class_labels
        from voile.itemsets.kernels.joint import information_gained

        of = self.state.classes
        sums = class_labels(of, self.table)
        return information_gained(self.rows.groups, of, self.table, sums, features)

    def _join(self, x: int) -> bool:
        """Put a feature in, if it may join."""
        limited = self.most < self.rows.n_rows
        if (limited and self._alone(x) > self.most) or not self.state.admits(x):
            return False
        self.state.join(x)
        return True

    def _alone(self, x: int) -> int:
        """Count the rows that would be of one subject alone, with one more feature."""
        from voile.itemsets.kernels.joint import rows_alone

        groups = self.rows.groups
        holders = groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]
        of, first, last = self.state.classes, self.first, self.last
        return int(rows_alone(of, holders, first, last, self.counts))
