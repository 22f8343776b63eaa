"""Define the ground of trees: people's codes, the gain of a split, and the allowed nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import InfeasibleError, RequestError
from voile.tables.fitting.trees.measuring import BoxMeasures
from voile.tables.people.counts import CombinationCounts, Constraints
from voile.tables.scoring.disclosure import distinct_l, entropy_l
from voile.tables.scoring.losses import distribution_of_all, entropies, importance_shares, n_log_n
from voile.tables.trees.kernels.inputs import AllowedBoxes, CutWorth, SamplePeople, SensitiveRows

Floats = NDArray[np.float64]
SLACK = 1e-9
LARGEST_TABLE = 2**21
SHORT = 2**15
MOST_FIGURES = 2**27


@dataclass(frozen=True)
class BoxDiversity:
    """The diversity that every leaf needs in one sensitive column.

    Parameters
    ----------
    counts : (combinations, values) float64, the sample by value.
    distinct, entropy : the least l of distinct and of entropy l-diversity, >= 1.
    t : the largest earth mover's distance of a leaf from all subjects, in [0, 1].
    ordered : whether t uses the distance of ordered values.
    """

    counts: Floats
    distinct: int = 1
    entropy: float = 1.0
    t: float = 1.0
    ordered: bool = False


@dataclass(frozen=True)
class TreeGrowth:
    """The weights of a split's gain while one tree grows.

    Greedy splits look one step ahead. The loss for pruning is not always the best guide for
    growing. Eq. 4 alone separates the crowded parts first, which is better at higher risks.

    Parameters
    ----------
    weight : the weight of relative risk, >= 0. The weight of the loss is 1.
    coarse, fine : the share of eq. 4 in the loss, for nodes of more than `large` subjects, and for
        others.
    """

    weight: float
    coarse: float
    fine: float
    large: float = 100.0


@dataclass(frozen=True)
class LossUnits:
    """The units of the figures of nodes: the figures of the whole source.

    Parameters
    ----------
    matches : the expected matches of the ungeneralised source, the unit of relative risk.
    own : the sum of n log n over the source's combinations.
    spread : the loss by eq. 4 for each nat. 0 if one leaf of all people loses nothing.
    hidden : (columns,) the lost resolution for each hidden nat of a column.
    cells : the cells of the source, the unit of NCP.
    lost : the share of the source that no policy releases.
    """

    matches: float
    own: float
    spread: float
    hidden: Floats
    cells: float
    lost: float = 0.0


@dataclass(frozen=True, eq=False)
class TreeGround(BriefRepr):
    """A table's counts in the form that trees need, and the units of risk and loss.

    Parameters
    ----------
    counts : see `CombinationCounts`.
    constraints : `k` and `max_risk` apply to every leaf. `forbidden` splits are never made.
    diversity : the diversity of each sensitive column.
    nullable : by column, whether the last value is null.
    public : whether the population's counts are independent of the sample, so that they may
        determine a split in a gap of the sample.
    importance : by column, its weight in the resolution. None gives equal weights.
    measures : the measures for pruning, if they are not expected matches, distribution and
        resolution. Growing uses these three in any case.
    free : by column, whether its values (at most 12) have no order, so that a split may divide them
        into any two sets. Empty if all columns have an order.
    number : the number of rows of a record. 1 for a table of rows.
    of_source : the units of the source, if the counts are a part of it. None uses the units of the
        counts.
    gains : (columns,) the weight of a column's entropy in the choice of a split, times its unit.
        Empty counts each once.
    """

    counts: CombinationCounts
    constraints: Constraints
    diversity: tuple[BoxDiversity, ...] = ()
    nullable: tuple[bool, ...] = ()
    public: bool = False
    importance: tuple[float, ...] | None = None
    measures: BoxMeasures | None = None
    free: tuple[bool, ...] = ()
    number: int = 1
    of_source: LossUnits | None = None
    gains: tuple[float, ...] = ()

    @cached_property
    def _sampled_cells(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.counts.sample > 0)

    @cached_property
    def _factor(self) -> float:
        """Return the ratio of population and sample if the ratio is constant, or else 0."""
        sample, people = self.counts.sample, self.counts.population
        factor = float(people.sum() / sample.sum())
        return factor if np.allclose(people, factor * sample, rtol=1e-12, atol=0) else 0.0

    @cached_property
    def units(self) -> LossUnits:
        """Return the units of the figures of nodes."""
        if self.of_source is not None:
            return self.of_source
        n, people = self.counts.sample, self.counts.population
        share = importance_shares(self.counts, self.importance)
        hidden = entropies(self.counts) * self.counts.subjects
        return LossUnits(
            float((n / np.maximum(np.maximum(n, people), 1.0)).sum()),
            float(n_log_n(n[self._sampled_cells]).sum()),
            per_nat(distribution_of_all(self.counts)),
            np.divide(share, hidden, out=np.zeros_like(share), where=hidden > 0),
            self.counts.subjects * len(self.counts.sizes),
        )

    @property
    def size(self) -> int:
        """Return the number of rows to grow on, times columns."""
        return len(self._sampled_cells) * len(self.counts.sizes)

    @property
    def risk_counts_boxes(self) -> bool:
        """Return whether every leaf has the same risk, as if the population is the sample."""
        return self._factor > 0 and bool((self.counts.sample[self._sampled_cells] >= 1).all())

    def people(self) -> SamplePeople:
        """Return the rows to grow on. Growing may change their order."""
        rows, d = self._sampled_cells, len(self.counts.sizes)
        kind = np.int16 if max(self.counts.sizes) < SHORT else np.int32
        crowd = np.flatnonzero(self.counts.population > 0) if not self._factor else rows[:0]
        return SamplePeople(
            self.counts.codes[rows].astype(kind).reshape(-1, d),
            self.counts.sample[rows],
            np.arange(len(rows) if self.diversity else 0),
            self.counts.codes[crowd].astype(kind).reshape(-1, d),
            self.counts.population[crowd],
            self._factor,
        )

    def worth(self, growth: TreeGrowth) -> CutWorth:
        """Return the weights of a split's gain."""
        units = self.units
        hidden = units.hidden * (np.array(self.gains) if self.gains else 1.0)
        return CutWorth(
            growth.weight / units.matches,
            growth.coarse * units.spread,
            growth.fine * units.spread,
            (1 - growth.coarse) * hidden,
            (1 - growth.fine) * hidden,
            float(growth.large),
            n_log_n(np.arange(min(self.counts.subjects, LARGEST_TABLE) + 1)),
            np.log(np.maximum(np.arange(max(self.counts.sizes) + 1.0), 1.0)),
        )

    def build_allowed(self) -> AllowedBoxes:
        """Return the constraints on nodes and splits.

        Raises
        ------
        RequestError : there are split points that every policy must keep.
        """
        rules, sizes = self.constraints, self.counts.sizes
        if rules.required is not None and rules.required.any():
            raise RequestError(
                "cuts that every policy must keep are asked for, and trees keep none everywhere",
                instead="take --family global, or leave them out",
            )
        start = np.concatenate(([0], np.cumsum(sizes)))
        cuts = np.ones(start[-1], dtype=np.bool_)
        if rules.forbidden is not None:
            ends = np.zeros(start[-1], dtype=np.bool_)
            ends[start[1:] - 1] = True
            cuts[~ends] = ~rules.forbidden
        return AllowedBoxes(
            rules.k - SLACK if rules.k > 1 else 0.0,
            (1 - SLACK) / rules.max_risk if rules.max_risk < 1 else 0.0,
            cuts,
            start,
            np.array(self.nullable or [False] * len(sizes)),
            self.public and not self._factor,
            rules.empty_boxes,
            np.array(self.free or [False] * len(sizes)),
        )

    @cached_property
    def sensitive(self) -> SensitiveRows:
        """Return the sensitive values of the sample's rows, in CSR form."""
        counted = [one.counts[self._sampled_cells] for one in self.diversity]
        start = np.concatenate(([0], np.cumsum([c.shape[1] for c in counted]))).astype(np.int64)
        both = np.concatenate([np.zeros((len(self._sampled_cells), 0)), *counted], axis=1)
        row, value = np.nonzero(both)
        first = np.searchsorted(row, np.arange(len(both) + 1)).astype(np.int64)

        def of_each(values: Sequence[float]) -> Floats:
            return np.array(values, dtype=np.float64)

        return SensitiveRows(
            first,
            value.astype(np.int64),
            both[row, value],
            start,
            of_each([one.distinct for one in self.diversity]),
            np.log(of_each([one.entropy for one in self.diversity])),
            of_each([one.t for one in self.diversity]),
            np.array([one.ordered for one in self.diversity], dtype=np.bool_),
            both.sum(axis=0),
        )

    @property
    def most_boxes(self) -> int:
        """Return the largest number of nodes of a tree, including internal nodes.

        If leaves may be empty, each other leaf may be trimmed at both ends of every column.
        """
        least, d = max(self.build_allowed().least_n, 0.0), len(self.counts.sizes)
        leaves = len(self._sampled_cells)
        if least > 0:
            leaves = min(leaves, int(self.counts.subjects / least))
        boxes = 2 * max(leaves, 1) + 1
        if self.constraints.empty_boxes:
            boxes = max(boxes, min(boxes * (4 * d + 1), MOST_FIGURES // (d + 5)))
        return boxes

    def check(self) -> None:
        """Raise `InfeasibleError` if even one leaf of all people breaks a constraint."""
        rules, n = self.constraints, self.counts.subjects
        g = max(n, float(self.counts.population.sum()), 1.0)
        if n < rules.k - SLACK:
            raise _infeasible(f"k is {rules.k:,} and there are {n:,.6g} subjects")
        if g * rules.max_risk < 1 - SLACK:
            raise _infeasible(f"the risk asked for is {rules.max_risk:g}, of {g:,.6g} people")
        for one in self.diversity:
            whole = one.counts.sum(axis=0, keepdims=True)
            if distinct_l(whole) < one.distinct or entropy_l(whole) < one.entropy - SLACK:
                raise _infeasible("a sensitive column has fewer values than l-diversity asks for")


def per_nat(nats: float) -> float:
    """Return the loss of one of the given number of nats, or 0 if there are none."""
    return 1.0 / nats if nats else 0.0


def _infeasible(what: str) -> InfeasibleError:
    return InfeasibleError(what, instead="ask for less")
