"""Score policies exactly: relative risk (eq. 2-3), normalised loss (eq. 4), suppression.

Source: Xia, Heatherly, Ding, Li, Malin, CODASPY 2013.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.errors import RequestError
from voile.tables.counts import Constraints, Counts
from voile.tables.kernels.cells import SLACK, Cells, Rules
from voile.tables.scorer import LOSS, RISK, SUPPRESSED, Scorer, Sums

if TYPE_CHECKING:
    from voile.tables.kernels.scorer import CompiledScorer

Policies = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scores:
    """Hold what policies score, each (m,) float64 in [0, 1].

    Parameters
    ----------
    risk : relative risk, 1 when the source is published untouched.
    loss : share of the information lost, 1 when all values are generalised to one.
    suppressed : share of subjects dropped because their cell breaks a constraint.
    """

    risk: NDArray[np.float64]
    loss: NDArray[np.float64]
    suppressed: NDArray[np.float64]


class Evaluator:
    """Score policies over one table of counts.

    A policy is a row of `n_bits` booleans: attribute d has sizes[d] - 1 of them, in order; True
    keeps the cut between two neighbouring values. All False is the *top*, all True the *bottom*.

    With n the subjects and g = max(people, subjects, 1) of a generalised cell of w combinations:

    - risk is the sum of n / g over cells, divided by that sum at the bottom;
    - loss is the mean over subjects of log(n_x w / n), n_x counting their own combination,
      divided by that mean at the top: KL(P || Q), Q spreading each cell evenly.

    Cells that break a constraint are *suppressed*: they add nothing to risk, and each of their
    subjects counts as wholly lost (1 / subjects of the normalised loss, what a subject loses on
    average at the top). Without suppression risk falls and loss rises as a policy becomes more
    general (Defs 3.7, 3.8); with it, only the suppressed share is monotone: it falls. A loss
    above 1, which suppressing the best kept cells can give, counts as 1.

    Parameters
    ----------
    counts : what to score over; at least one subject.
    constraints : which cells are suppressed; the default suppresses nothing.

    Raises
    ------
    RequestError : no subjects, 2**62 combinations or more, l-diversity without a sensitive
        column, or required and forbidden cuts that clash or are not (n_bits,) booleans.
    """

    def __init__(self, counts: Counts, constraints: Constraints | None = None) -> None:
        self.counts = counts
        self.constraints = Constraints() if constraints is None else constraints
        self.cells = Cells.of(counts)
        self.n_bits = self.cells.n_bits
        self.subjects = counts.subjects
        self.required = _cuts(self.constraints.required, self.n_bits, "required")
        self.forbidden = _cuts(self.constraints.forbidden, self.n_bits, "forbidden")
        if not len(self.cells.n):
            raise RequestError("there are no subjects to score policies on")
        if self.constraints.l_diversity > 1 and not counts.sensitive.shape[1]:
            raise RequestError("l-diversity needs a sensitive column")
        if (self.required & self.forbidden).any():
            raise RequestError("a cut is both required and forbidden")

    def evaluate(self, policies: Policies) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return relative risk and normalised loss of each policy, (m, n_bits) bool.

        Cost: O(m (cells + combinations of all attributes but one)).

        >>> counts = Counts(
        ...     sizes=(2,), codes=np.array([[0], [1]], np.int32), sample=np.array([1.0, 3.0]),
        ...     population=np.array([2.0, 6.0]), sensitive=np.zeros((2, 0)),
        ... )
        >>> risk, loss = Evaluator(counts).evaluate(np.array([[False], [True]]))
        >>> risk.tolist(), loss.tolist()
        ([0.5, 1.0], [1.0, 0.0])
        """
        scores = self.scores(policies)
        return scores.risk, scores.loss

    def scores(self, policies: Policies) -> Scores:
        """Return risk, loss and the share of subjects suppressed; as `evaluate` otherwise."""
        return self.normalised(self._whole.score(self._checked(policies)))

    def feasible(self, policies: Policies, scores: Scores) -> NDArray[np.bool_]:
        """Say which policies suppress no more than allowed and respect the cuts asked for."""
        rows = self._checked(policies)
        allowed = scores.suppressed <= self.constraints.suppress + SLACK
        allowed &= rows[:, self.required].all(axis=1)
        return allowed & ~rows[:, self.forbidden].any(axis=1)

    def normalised(self, sums: Sums) -> Scores:
        """Turn (m, 3) sums of n / g, nats and subjects suppressed into scores."""
        most, loss = self.rules.wholly_lost * self.subjects, sums[:, LOSS]
        return Scores(
            risk=np.clip(sums[:, RISK] / self.matches, 0.0, 1.0),
            loss=np.clip(loss / most, 0.0, 1.0) if most > 0 else np.zeros_like(loss),
            suppressed=sums[:, SUPPRESSED] / self.subjects,
        )

    @cached_property
    def scorer(self) -> Scorer:
        """What scores the lattice that searches may use: without the forbidden cuts."""
        if not self.forbidden.any():
            return self._whole
        return _compiled(self.cells.coarsen(~self.forbidden), self.rules)

    @property
    def matches(self) -> float:
        """Sum of 1 / g over subjects when nothing is generalised: the unit of relative risk."""
        return self._ends[0]

    @cached_property
    def rules(self) -> Rules:
        """The constraints as the kernels read them."""
        return Rules.of(self.constraints)._replace(wholly_lost=self._ends[1] / self.subjects)

    @cached_property
    def _whole(self) -> Scorer:
        return _compiled(self.cells, self.rules)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """The bottom's sum of n / g and the top's nats, nothing suppressed."""
        ends = np.array([[True] * self.n_bits, [False] * self.n_bits])
        sums = _compiled(self.cells, Rules.of(Constraints())).score(ends)
        return float(sums[0, RISK]), float(sums[1, LOSS])

    def _checked(self, policies: Policies) -> Policies:
        rows = np.asarray(policies)
        if rows.dtype != np.bool_ or rows.ndim != 2 or rows.shape[1] != self.n_bits:
            raise RequestError(
                f"policies must be booleans of shape (m, {self.n_bits})",
                instead=f"these are {rows.dtype} of shape {rows.shape}",
            )
        return np.ascontiguousarray(rows)


def _compiled(cells: Cells, rules: Rules) -> CompiledScorer:
    from voile.tables.kernels.scorer import CompiledScorer

    return CompiledScorer(cells, rules)


def _cuts(cuts: Policies | None, n_bits: int, name: str) -> Policies:
    if cuts is None:
        return np.zeros(n_bits, dtype=np.bool_)
    if cuts.shape != (n_bits,) or cuts.dtype != np.bool_:
        raise RequestError(f"{name} cuts must be {n_bits} booleans")
    return cuts
