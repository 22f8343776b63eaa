"""The space of policies over a table that is searched."""

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

    `of` reads the data; the constructor takes the counts.
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
        """Count a table once, by GROUP BY where it lives; keep distinct combinations only.

        Parameters
        ----------
        sample : the table to release: a path, a database table, or a frame (see `open_source`).
        population : a table that counts people by all quasi-identifiers; several tables of some
            are margins, fitted by iterative proportional fitting. Where one is counted by none of
            them, or there is no table, g is a group's size in the release; see `estimated_matches`.
        quasi : its quasi-identifiers, at least one.
        subject : column whose equal values are one person.
        people : column of the population tables that counts, whole numbers >= 0.
        sensitive : columns whose values in each group are counted, for l-diversity and t-closeness.
        fraction : in (0, 1), share of the population that the sample is of, without a table.
        weight : column of sampling weights, >= 0, one a subject: where no table is given, people
            are counted as their sums.
        settings : by column, what `QuasiSettings` takes: kind, order, hierarchy, cuts to keep...
        constraints : which policies are allowed.
        population_gap : ``error`` refuses records whose group the population lacks; ``sample``
            counts such a group as large as it is in the sample.
        sampled : whether the table is a random sample of the population, for `estimated_matches`
            where population tables count people by some quasi-identifiers.
        risk, loss : the measures, by name or as `GroupMeasure`s; None is eq. 2 and eq. 4. See
            `measure_named`.
        loss_weight : in [0, 1], what distribution counts in the loss ``weighted``; resolution
            counts the rest.
        outcomes : columns that a measure looks at, as `mutual-information` does.

        Raises
        ------
        RequestError : an absent column, or a domain of one value. Also a population without counts,
            with negative ones, or without some records. Also more combinations than memory.

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
    """Refuse an estimate that nothing supports, and outcomes that no measure looks at."""
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
