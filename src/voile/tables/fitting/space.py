"""Define the space of policies over a table, with the evaluator that searches need."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.fitting.asked import Settings, add_cuts, importance_of
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.people.counts import Constraints, PopulationCounts
from voile.tables.people.table_counts import count_source
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.scoring.group_measures import GroupMeasure, estimated_matches, sees_outcomes
from voile.tables.scoring.named_measures import LossWeights, measure_named

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]


class PolicySpace(CountedSpace):
    """All policies over a table's quasi-identifiers, scored against a population.

    `of` reads the data, and the constructor takes the counts.
    """

    @classmethod
    def of(
        cls,
        sample: Any,
        population: Any = None,
        quasi: Sequence[str] = (),
        *,
        subject: str | None = None,
        people: str = "people",
        sensitive: str | Sequence[str] = (),
        fraction: float | None = None,
        weight: str | None = None,
        settings: Settings | None = None,
        constraints: Constraints | None = None,
        population_gap: Literal["error", "sample"] = "error",
        sampled: bool = False,
        risk: str | GroupMeasure | None = None,
        loss: str | GroupMeasure | None = None,
        loss_weight: float = 0.5,
        outcomes: Sequence[str] = (),
    ) -> PolicySpace:
        """Count a table once, by GROUP BY in its own database or file.

        Only the distinct combinations are kept.

        Parameters
        ----------
        sample : the table to release: a path, a database table, or a data frame (see
            `open_source`).
        population : a table that counts people by all quasi-identifiers. Several tables by some of
            them are margins, fitted by iterative proportional fitting. If no table counts a
            quasi-identifier, or there is no table, g is a group's size in the release. See
            `estimated_matches`.
        quasi : the quasi-identifiers of the sample, at least one.
        subject : the column with equal values for rows of one person.
        people : the column of the population tables with the number of people, whole numbers >= 0.
        sensitive : the columns for l-diversity and t-closeness. Their values are counted in each
            group.
        fraction : in (0, 1), the sample's share of the population, if there is no table.
        weight : the column of sampling weights, >= 0, one for each subject. Without a table, people
            are counted as the sums of weights.
        settings : by column, the arguments of `QuasiSettings`: kind, order, hierarchy, fixed split
            points and others.
        constraints : the conditions on policies.
        population_gap : ``error`` raises an error if the population lacks the group of a record.
            ``sample`` gives such a group its size in the sample.
        sampled : whether the table is a random sample of the population. `estimated_matches` needs
            this if population tables count people by some quasi-identifiers.
        risk, loss : the measures, by name or as `GroupMeasure`. None means eq. 2 and eq. 4. See
            `measure_named`.
        loss_weight : in [0, 1], the weight of distribution in the loss ``weighted``. The remaining
            weight is that of resolution.
        outcomes : the columns that a measure such as `mutual-information` uses.

        Raises
        ------
        RequestError : a column is absent, or a domain has one value. Also if a population has no
            counts, has negative counts or lacks some records, or if the combinations do not fit
            into memory.

        Examples
        --------
        >>> import pyarrow as pa
        >>> sample = pa.table({"age": [30, 31, 30], "sex": ["f", "m", "m"]})
        >>> space = PolicySpace.of(sample, quasi=["age", "sex"])
        >>> space.n_bits, space.evaluate(np.array([space.bottom, space.top]))[0].round(3).tolist()
        (2, [1.0, 0.333])
        """
        if isinstance(outcomes, str):
            raise RequestError("outcomes is one text", instead="give a list of columns")
        risk_of, loss_of = measure_named("risk", risk), measure_named("loss", loss)
        table = count_source(
            sample,
            population,
            quasi,
            subject=subject,
            people=people,
            sensitive=sensitive,
            fraction=fraction,
            weight=weight,
            settings=settings,
            population_gap=population_gap,
            sampled=sampled,
            outcomes=outcomes,
        )
        limits = add_cuts(table.domains, constraints or Constraints(), settings or {})
        weights = LossWeights(loss_weight, importance_of(table.domains, settings or {}))
        measures = risk_of(table.counts, weights), loss_of(table.counts, weights)
        _check_measures(*measures, table.population, outcomes)
        return cls(
            table.domains,
            table.counts,
            limits,
            table.population,
            risk=measures[0],
            loss=measures[1],
            weights=weights,
        )

    @classmethod
    def of_counts(cls, space: CountedSpace, constraints: Constraints | None = None) -> PolicySpace:
        """Return the space to search for given counts, with its own constraints or others."""
        return cls(
            space.domains,
            space.counts,
            constraints or space.constraints,
            space.population,
            risk=space.risk,
            loss=space.loss,
            weights=space.weights,
        )

    @cached_property
    def evaluator(self) -> PolicyEvaluator:
        """Return the evaluator that scores policies."""
        return PolicyEvaluator(
            self.counts,
            self.constraints,
            risk=self.risk,
            loss=self.loss,
            importance=self.weights.importance,
            columns=self.quasi,
        )

    def evaluate(self, policies: Bits) -> tuple[Floats, Floats]:
        """Return relative risk and normalised loss, (m,) in [0, 1], of (m, n_bits) policies."""
        return self.evaluator.evaluate(policies)


def _check_measures(
    risk: GroupMeasure, loss: GroupMeasure, population: PopulationCounts, outcomes: Sequence[str]
) -> None:
    """Raise an error for an estimate without support, or outcomes that no measure uses."""
    if risk == estimated_matches() and not (population.boxes and population.boxes.sampled):
        raise RequestError(
            "matches are estimated where a table counts people by some quasi-identifiers, and "
            "the source is declared a random sample of these people",
            instead="give both (--population, --sampled), or ask for the risk matches",
        )
    if outcomes and not (sees_outcomes(risk) or sees_outcomes(loss)):
        raise RequestError(
            "outcomes are named and neither risk nor loss looks at them",
            instead="ask for the loss mutual-information",
        )
