"""Count a table and its population by combination of quasi-identifiers, once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError, nearest
from voile.data import Source, open_source
from voile.tables.domains.domain import ValueDomain
from voile.tables.people import combinations
from voile.tables.people.counts import CombinationCounts, PopulationCounts
from voile.tables.people.domain_building import build_domains
from voile.tables.people.population import Table, population_of
from voile.tables.people.weights import count_weighted


@dataclass(frozen=True, eq=False)
class TableCounts(BriefRepr):
    """The domains of a table's quasi-identifiers, its people by combination, and the population."""

    domains: tuple[ValueDomain, ...]
    counts: CombinationCounts
    population: PopulationCounts


def count_source(
    sample: Any,
    population: Any = None,
    quasi: Sequence[str] = (),
    *,
    subject: str | None = None,
    people: str = "people",
    sensitive: str | Sequence[str] = (),
    fraction: float | None = None,
    weight: str | None = None,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    population_gap: Literal["error", "sample"] = "error",
    sampled: bool = False,
    outcomes: Sequence[str] = (),
) -> TableCounts:
    """Count a table by GROUP BY in its own database or file.

    The arguments are those of `PolicySpace.of`.
    """
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
    return TableCounts(domains, counts, joined)


def _check_subject(source: Source, subject: str | None) -> None:
    if subject is not None and subject not in source.columns:
        raise RequestError(
            f"subject {subject} is not a column", instead=nearest(subject, source.columns)
        )


def _weigh(
    source: Source, domains: Sequence[ValueDomain], weight: str | None, subject: str | None
) -> Table | None:
    """Return the column of weights, and the combinations with their sums of weights."""
    if weight is None:
        return None
    quasi = [domain.column for domain in domains]
    sums = count_weighted(source, quasi, weight, subject)
    return ((weight,), *combinations.encode(domains, sums))


def _several(population: Any) -> Iterator[Any]:
    if population is None:
        return
    if isinstance(population, (list, tuple)):
        yield from population
    else:
        yield population


def _only(domains: Sequence[ValueDomain], columns: Sequence[str]) -> list[ValueDomain]:
    return [domain for domain in domains if domain.column in columns]
