"""The space of policies over a table, counted once from where the table lives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Self

from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.tables.domains.domain import ValueDomain
from voile.tables.people import combinations
from voile.tables.people.counts import Constraints
from voile.tables.people.domain_building import build_domains
from voile.tables.people.population import PopulationCounts, Table, population_of
from voile.tables.people.weights import count_weighted
from voile.tables.policies.asked import Settings, add_cuts, importance_of
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.scoring.group_measures import GroupMeasure, estimated_matches, sees_outcomes
from voile.tables.scoring.named_measures import LossWeights, measure_named


class SourceSpace(CountedSpace):
    """All policies over a table's quasi-identifiers, with what a source counts."""

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
    ) -> Self:
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
        RequestError : a column that is not there, a domain of one value, a population
            without counts or with negative ones, records it lacks, more combinations than memory.

        Examples
        --------
        >>> import pyarrow as pa
        >>> sample = pa.table({"age": [30, 31, 30], "sex": ["f", "m", "m"]})
        >>> space = SourceSpace.of(sample, quasi=["age", "sex"])
        >>> space.n_bits, space.matches
        (2, 3.0)
        """
        if isinstance(outcomes, str):
            raise RequestError("outcomes is one text", instead="give a list of columns")
        risk_of, loss_of = measure_named("risk", risk), measure_named("loss", loss)
        source = open_source(sample)
        _check_subject(source, subject)
        counted = combinations.count_sample(source, quasi, subject)
        tables = [
            combinations.count_population(open_source(table), quasi, people)
            for table in _several(population)
        ]
        domains = build_domains(quasi, counted, tables, settings or {})
        codes, count = combinations.encode(domains, counted)
        joined = population_of(
            domains,
            codes,
            count,
            [(t.columns, *combinations.encode(_only(domains, t.columns), t)) for t in tables],
            fraction=fraction,
            gap=population_gap,
            sampled=sampled,
            weighted=_weigh(source, domains, weight, subject),
        )
        private = [sensitive] if isinstance(sensitive, str) else sensitive
        by_value, columns = combinations.count_sensitive(source, domains, codes, private, subject)
        by_outcome = combinations.count_outcomes(source, domains, codes, outcomes, subject)
        counts = combinations.join(domains, codes, count, joined, by_value, by_outcome, columns)
        limits = add_cuts(domains, constraints or Constraints(), settings or {})
        weights = LossWeights(loss_weight, importance_of(domains, settings or {}))
        measures = risk_of(counts, weights), loss_of(counts, weights)
        _check_measures(*measures, joined, outcomes)
        return cls(
            domains, counts, limits, joined, risk=measures[0], loss=measures[1], weights=weights
        )


def _check_subject(source: Source, subject: str | None) -> None:
    if subject is not None and subject not in source.columns:
        raise RequestError(
            f"subject {subject} is not a column", instead=nearest(subject, source.columns)
        )


def _weigh(
    source: Source, domains: Sequence[ValueDomain], weight: str | None, subject: str | None
) -> Table | None:
    """Return the columns of weights, and the combinations with their sums of weights."""
    if weight is None:
        return None
    quasi = [domain.column for domain in domains]
    sums = count_weighted(source, quasi, weight, subject)
    return ((weight,), *combinations.encode(domains, sums))


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


def _several(population: Any) -> Iterator[Any]:
    if population is None:
        return
    if isinstance(population, (list, tuple)):
        yield from population
    else:
        yield population


def _only(domains: Sequence[ValueDomain], columns: Sequence[str]) -> list[ValueDomain]:
    return [domain for domain in domains if domain.column in columns]
