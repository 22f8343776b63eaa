"""Score policies exactly: relative risk (eq. 2-3), normalised loss (eq. 4), suppression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.fitting.kernels.cell_sums import sum_cells
from voile.tables.fitting.kernels.cells import SLACK, CellRules, LatticeCells
from voile.tables.fitting.kernels.scorer import LOSS, RISK, SUPPRESSED, PolicyScorer, Sums
from voile.tables.fitting.scoring.group_scorer import MeasuredScorer
from voile.tables.fitting.scoring.monotone import check
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.disclosure import are_diverse
from voile.tables.scoring.group_measures import (
    FLAT,
    EvenSpread,
    GroupMeasure,
    RecordGroups,
    SizeWeighing,
    WeightedLoss,
    information,
    is_built_in,
    matches,
    refuse_undeclared,
)

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.policy_figures import FigureScorer
    from voile.tables.scoring.losses import PolicyFigures

Policies = NDArray[np.bool_]

LARGE = 400_000
"""Sampled cells times attributes, above which each policy is scored on its own cells."""


@dataclass(frozen=True, eq=False)
class PolicyScores:
    """The scores of policies, (m,) in [0, 1]: relative risk, loss, suppressed share."""

    risk: NDArray[np.float64]
    loss: NDArray[np.float64]
    suppressed: NDArray[np.float64]


class PolicyEvaluator:
    """An evaluator that scores policies over one table of counts.

    A policy is a row of `n_bits` booleans. Attribute d has sizes[d] - 1 of them, in order. True
    keeps the split point between two neighbouring values. All False is the *top*, and all True the
    *bottom*. Consider a generalised cell with n subjects, w combinations and g = max(people,
    subjects, 1):

    - risk is the sum of n / g over cells, divided by that sum at the bottom,
    - loss is the mean over subjects of log(n_x w / n), where n_x counts their own combination,
      divided by that mean at the top. It is KL(P || Q), where Q spreads each cell evenly.

    A custom risk measure is divided by its sum at the bottom (0 if that sum is 0). From a custom
    loss measure, the sum at the bottom is subtracted. The difference is divided by the same
    difference at the top, or by the unit of a `WeightedLoss`. The declared monotonicity is checked
    at the first score, see `monotone`.

    Cells that break a constraint are *suppressed*. They add nothing to risk, and each of their
    subjects counts as a full loss (1 / subjects of the normalised loss). Without suppression, risk
    decreases and loss increases as a policy becomes more general (Defs 3.7, 3.8). With suppression,
    only the suppressed share is monotone. It decreases, except under entropy l-diversity and
    t-closeness. A loss above 1 counts as 1.
    """

    def __init__(
        self,
        counts: CombinationCounts,
        constraints: Constraints | None = None,
        *,
        risk: GroupMeasure | None = None,
        loss: GroupMeasure | None = None,
        importance: Sequence[float] | None = None,
        columns: Sequence[str] = (),
    ) -> None:
        if not counts.sizes:  # the kernels need at least one attribute
            counts = replace(counts, sizes=(1,), codes=np.zeros((len(counts.codes), 1), np.int32))
        self.counts = counts
        self.constraints = Constraints() if constraints is None else constraints
        self.risk = matches() if risk is None else risk
        self.loss = information() if loss is None else loss
        self.importance = importance
        self._columns = columns
        self.n_bits = sum(counts.sizes) - len(counts.sizes)
        self.subjects = counts.subjects
        self.required = _cuts(self.constraints.required, self.n_bits, "required")
        self.forbidden = _cuts(self.constraints.forbidden, self.n_bits, "forbidden")
        if not counts.sample.any():
            raise RequestError("there are no subjects to score policies on")
        if self.constraints.diverse and not counts.sensitive.shape[1]:
            raise RequestError("l-diversity and t-closeness need a sensitive column")
        if (self.required & self.forbidden).any():
            raise RequestError("a cut is both required and forbidden")
        refuse_undeclared(self.risk, "falls")
        refuse_undeclared(self.loss, "rises")

    def evaluate(self, policies: Policies) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return relative risk and normalised loss of each policy, (m, n_bits) bool.

        >>> counts = CombinationCounts(
        ...     sizes=(2,), codes=np.array([[0], [1]], np.int32), sample=np.array([1.0, 3.0]),
        ...     population=np.array([2.0, 6.0]), sensitive=np.zeros((2, 0)),
        ... )
        >>> risk, loss = PolicyEvaluator(counts).evaluate(np.array([[False], [True]]))
        >>> risk.tolist(), loss.tolist()
        ([0.5, 1.0], [1.0, 0.0])
        """
        scores = self.scores(policies)
        return scores.risk, scores.loss

    def scores(self, policies: Policies) -> PolicyScores:
        """Return risk, loss and the suppressed share of subjects of each policy."""
        rows = self._check_policies(policies)
        if not self.is_large:
            return self.normalise(self._whole.score(rows))
        return self.normalise(np.concatenate([self._score_alone(row) for row in rows]))

    def feasible(self, policies: Policies, scores: PolicyScores) -> NDArray[np.bool_]:
        """Return a mask of policies with no more suppression than allowed.

        They must also have the required split points and no forbidden ones.
        """
        rows = self._check_policies(policies)
        allowed = scores.suppressed <= self.constraints.suppress + SLACK
        allowed &= rows[:, self.required].all(axis=1)
        return allowed & ~rows[:, self.forbidden].any(axis=1)

    def is_close_to_released(self, policy: Policies) -> bool:
        """Return whether a policy's released groups are t-close to all released records."""
        groups, rules = self.cells.coarsen(policy), self.constraints
        n = groups.n
        kept = n >= self.rules.least_n
        kept &= np.maximum(np.maximum(n, groups.p[: len(n)]), 1.0) >= self.rules.least_g
        columns = [*self.counts.by_column(groups.shares.shown)]
        for own, ordered in columns:
            kept &= are_diverse(own, own.sum(axis=0), rules, ordered=ordered)
        shown = [(own[kept], ordered) for own, ordered in columns]
        return all(are_diverse(o, o.sum(axis=0), rules, ordered=by).all() for o, by in shown)

    def normalise(self, sums: Sums) -> PolicyScores:
        """Convert (m, 3) sums of risk, loss and suppressed subjects to scores."""
        risk, loss, subjects = self.units
        return PolicyScores(
            risk=_share(sums[:, RISK], risk),
            loss=_share(sums[:, LOSS], loss),
            suppressed=sums[:, SUPPRESSED] / subjects,
        )

    @cached_property
    def cells(self) -> LatticeCells:
        """Return the cells of the lattice that have people. Trees do not need them."""
        return LatticeCells.of(self.counts)

    @cached_property
    def scorer(self) -> PolicyScorer:
        """Return the scorer of the lattice for searches, without the forbidden split points."""
        return self._scorer_by(self.rules, ~self.forbidden) if self.forbidden.any() else self._whole

    def scorer_on(self, floor: Policies) -> PolicyScorer:
        """Return an exact scorer for the policies with split points of `floor` only, on its cells.

        Cost: O(cells x attributes) to build.
        """
        return self._scorer_by(self.rules, floor)

    @property
    def is_large(self) -> bool:
        """Return whether there are too many cells to sort by each attribute, or to walk."""
        return (
            self.is_compiled
            and int((self.counts.sample > 0).sum()) * len(self.counts.sizes) > LARGE
        )

    @property
    def is_compiled(self) -> bool:
        """Return whether kernels score the measures: any `matches`, with eq. 4 or weighted."""
        ours = isinstance(self.loss.each, (EvenSpread, WeightedLoss))
        return isinstance(self.risk.each, SizeWeighing) and ours

    @property
    def units(self) -> tuple[float, float, float]:
        """Return the sums that are a risk of 1, a loss of 1, and all subjects suppressed.

        A sum is 0 if the measure is constant.
        """
        return (*self._ends, self.subjects)

    @cached_property
    def matches(self) -> float:
        """Return the expected matches without generalisation: the sum of 1 / g over subjects."""
        return _total(matches(), self._source)

    def figures(self, policies: Policies) -> PolicyFigures:
        """Return the figures of each policy, for any risk and loss measure of the search."""
        return self._figures(self._check_policies(policies))

    @cached_property
    def rules(self) -> CellRules:
        """Return the constraints in the form of the kernels, with the weight of the risk."""
        return self._weigh_rules(self._cell_rules, self._ends[1] / self.subjects)

    @property
    def _cell_rules(self) -> CellRules:
        return CellRules.of(self.constraints, self.counts)

    @cached_property
    def _whole(self) -> PolicyScorer:
        return self._scorer_by(self.rules)

    @cached_property
    def _figures(self) -> FigureScorer:
        from voile.tables.fitting.scoring.policy_figures import FigureScorer

        return FigureScorer(self.counts, self.cells, self.constraints, self.importance)

    @cached_property
    def _source(self) -> RecordGroups:
        return RecordGroups.of(self.counts)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """Return the bottom's sum of risk and the top's sum of loss, without suppression."""
        for measure in (self.risk, self.loss):
            if not is_built_in(measure):
                check(measure, self.counts, columns=self._columns)
        top = np.zeros(self.n_bits, dtype=np.bool_)
        rules = self._weigh_rules(CellRules.of(Constraints(), self.counts), 0.0)
        if self.is_large:
            risk = float(sum_cells(self.cells, rules)[RISK])
            loss = float(sum_cells(self.cells.coarsen(top), rules)[LOSS])
        else:
            sums = self._scorer_by(rules).score(np.stack([~top, top]))
            risk, loss = float(sums[0, RISK]), float(sums[1, LOSS])
        if isinstance(self.loss.each, WeightedLoss):
            return risk, self.loss.each.unit
        return risk, loss if loss > FLAT * _total(self.loss, self._source) else 0.0

    def _score_alone(self, policy: Policies) -> Sums:
        """Score one policy on its own cells, (1, 3)."""
        from voile.tables.fitting.kernels.compiled_scorer import CompiledScorer

        loss, rules = self.loss.each, self.rules
        if not policy.all() or rules.least_l > 0 or rules.of_shares:
            return CompiledScorer(self._coarsen(policy), rules).score_bottom()
        # at the bottom, each cell is one detail of every attribute
        charged = sum(loss.charges) if isinstance(loss, WeightedLoss) else 0.0
        own = (rules.spread - charged) * self.cells.own
        return sum_cells(replace(self.cells, own=own), rules)[None, :3]

    def _coarsen(self, floor: Policies) -> LatticeCells:
        """Return the cells under a policy, with the charges of the loss in addition to eq. 4."""
        loss = self.loss.each
        if isinstance(loss, WeightedLoss):
            return self.cells.coarsen_charged(floor, loss.spread, np.array(loss.charges))
        return self.cells.coarsen(floor)

    def _weigh_rules(self, rules: CellRules, wholly_lost: float) -> CellRules:
        risk, loss = self.risk.each, self.loss.each
        if isinstance(risk, SizeWeighing):
            rules = rules._replace(power=risk.power, under=risk.under)
        if isinstance(loss, WeightedLoss):
            rules = rules._replace(spread=loss.spread, slope=loss.spread - sum(loss.charges))
        return rules._replace(wholly_lost=wholly_lost)

    @cached_property
    def _charged_cells(self) -> LatticeCells:
        """Return the cells, with the charges of the loss in addition to eq. 4."""
        loss = self.loss.each
        if isinstance(loss, WeightedLoss):
            return self.cells.charge_details(loss.spread, np.array(loss.charges))
        return self.cells

    def _scorer_by(self, rules: CellRules, cuts: Policies | None = None) -> PolicyScorer:
        if self.is_compiled:
            from voile.tables.fitting.kernels.compiled_scorer import CompiledScorer

            return CompiledScorer(
                self._charged_cells if cuts is None else self._coarsen(cuts), rules
            )
        source = RecordGroups.of(self.counts, columns=isinstance(self.loss.each, WeightedLoss))
        whole = MeasuredScorer.of(self.cells, source, rules, self.risk, self.loss)
        return whole if cuts is None else whole.coarsen_lattice(cuts)

    def _check_policies(self, policies: Policies) -> Policies:
        rows = np.asarray(policies)
        if rows.dtype != np.bool_ or rows.ndim != 2 or rows.shape[1] != self.n_bits:
            raise RequestError(
                f"policies must be booleans of shape (m, {self.n_bits})",
                instead=f"these are {rows.dtype} of shape {rows.shape}",
            )
        return np.ascontiguousarray(rows)


def _share(sums: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    return np.clip(sums / unit, 0.0, 1.0) if unit > 0 else np.zeros_like(sums)


def _total(measure: GroupMeasure, groups: RecordGroups) -> float:
    return float(np.abs(measure.each(groups)).sum())


def _cuts(cuts: Policies | None, n_bits: int, name: str) -> Policies:
    if cuts is None:
        return np.zeros(n_bits, dtype=np.bool_)
    if cuts.shape != (n_bits,) or cuts.dtype != np.bool_:
        raise RequestError(f"{name} cuts must be {n_bits} booleans")
    return cuts
