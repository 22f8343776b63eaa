"""Count people by combination of quasi-identifiers, and by other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.data import Source
from voile.engines.counting import count_combinations
from voile.tables.domains.domain import ValueDomain, encode_cells
from voile.tables.domains.parser import EXAMPLES, CellParser, FindRows
from voile.tables.people.counts import (
    CombinationCounts,
    PopulationCounts,
    SensitiveColumn,
    distinct_rows,
    row_keys,
    value_order,
)

MOST_OUTCOMES = 100
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QuasiCombinations:
    """Distinct combinations of some quasi-identifiers: raw cells by column, and counts."""

    columns: tuple[str, ...]
    table: pa.Table
    source: Source

    @property
    def count(self) -> NDArray[np.float64]:
        """Return the number of subjects or people of each combination."""
        return np.asarray(self.table.column("count").to_numpy(), dtype=np.float64)

    def distinct(self, column: str) -> pa.Array:
        """Return the distinct cells of a column, including null if it occurs."""
        return self.table.column(column).unique()

    def numbers(self, column: str, parser: CellParser) -> tuple[Sequence[Any], Floats]:
        """Return a column's distinct numbers in order, and the number of subjects of each."""
        cells = self.table.column(column)
        if pa.types.is_floating(cells.type):
            values = cells.to_numpy()
            known = ~np.isnan(values) & ~np.isin(values, parser.missing_numbers)
            found, place = np.unique(values[known], return_inverse=True)
            return found.tolist(), _totals(place, self.count[known])
        distinct, places = encode_cells(cells)
        counted: dict[Any, float] = {}
        for raw, count in zip(distinct, _totals(places, self.count), strict=True):
            value = parser(raw)
            counted[value] = counted.get(value, 0.0) + float(count)
        counted.pop(None, None)
        numbers = sorted(counted)
        return numbers, np.array([counted[number] for number in numbers])

    def rows_of(self, column: str) -> FindRows:
        """Return a function that finds the source's first rows with cells of some kind.

        The kind is given by a predicate.
        """

        def find(is_one: Callable[[Any], bool]) -> list[int]:
            cells = chain.from_iterable(
                batch.column(0).to_pylist() for batch in self.source.origin.batches([column])
            )
            found = (number for number, raw in enumerate(cells, 1) if is_one(raw))
            return list(islice(found, EXAMPLES))

        return find


def _totals(places: NDArray[np.int64], counts: Floats) -> Floats:
    return np.bincount(places, weights=counts).astype(np.float64)


def count_sample(source: Source, quasi: Sequence[str], subject: str | None) -> QuasiCombinations:
    """Count subjects by combination of the quasi-identifiers."""
    check_quasi(source, quasi)
    counted = count_combinations(source, list(quasi), subject=subject, floats=quasi)
    return QuasiCombinations(tuple(quasi), counted, source)


def count_population(source: Source, quasi: Sequence[str], people: str) -> QuasiCombinations:
    """Count people by combination of the quasi-identifiers that the table contains.

    Raises
    ------
    RequestError : the table does not have the column `people`, or has no quasi-identifier.
    """
    if people not in source.columns:
        raise RequestError(
            f"the population table has no column {people} that counts people",
            where=source.name,
            instead=f"name it with the option --people; {nearest(people, source.columns)}",
        )
    shared = [column for column in quasi if column in source.columns]
    if not shared:
        raise RequestError(
            "the population table has none of the quasi-identifiers", where=source.name
        )
    counted = count_combinations(source, shared, weight=people, floats=shared)
    return QuasiCombinations(tuple(shared), counted, source)


def check_quasi(source: Source, quasi: Sequence[str]) -> None:
    """Raise an error if a quasi-identifier is not a column, or is given twice."""
    if not quasi:
        raise RequestError("no quasi-identifier is named", where=source.name)
    for column in quasi:
        if column not in source.columns:
            raise RequestError(
                f"quasi-identifier {column} is not a column",
                where=source.name,
                instead=nearest(column, source.columns),
            )
        if list(quasi).count(column) > 1:
            raise RequestError(f"quasi-identifier {column} is named twice")


def encode(
    domains: Sequence[ValueDomain], combinations: QuasiCombinations
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return distinct positions (cells, attributes), lexicographically sorted, and their counts.

    Raw cells that parse to the same value (``7`` and ``007``, two days of a month) are merged.
    """
    codes = np.column_stack([d.codes(combinations.table.column(d.column)) for d in domains])
    return distinct_rows(codes.astype(np.int32), combinations.count, [len(d) for d in domains])


def count_sensitive(
    source: Source,
    domains: Sequence[ValueDomain],
    codes: NDArray[np.int32],
    sensitive: Sequence[str],
    subject: str | None,
) -> tuple[NDArray[np.float64], tuple[SensitiveColumn, ...]]:
    """Count the sample by combination and by value of each sensitive column.

    The counts of the columns are concatenated. Null counts as a separate value. The values
    themselves are not kept.
    """
    counted, columns = [np.zeros((len(codes), 0))], []
    for column in sensitive:
        _check_column(source, "sensitive", column)
        by_value, values = _count_values(source, domains, codes, column, subject)
        order, ordered = value_order(values)
        counted.append(by_value[:, order])
        columns.append(SensitiveColumn(len(values), ordered))
    return np.concatenate(counted, axis=1), tuple(columns)


def count_outcomes(
    source: Source,
    domains: Sequence[ValueDomain],
    codes: NDArray[np.int32],
    outcomes: Sequence[str],
    subject: str | None,
) -> tuple[NDArray[np.float64], ...]:
    """Count the sample by combination and by value of each outcome column, as `count_sensitive`.

    Raises
    ------
    RequestError : an outcome is not a column, is a quasi-identifier, or has more than 100 values.
        With so many values, hardly two subjects share one.
    """
    counted = []
    for outcome in outcomes:
        _check_column(source, "outcome", outcome)
        if outcome in [domain.column for domain in domains]:
            raise RequestError(f"outcome {outcome} is a quasi-identifier as well")
        counted.append(_count_values(source, domains, codes, outcome, subject)[0])
        if (values := counted[-1].shape[1]) > MOST_OUTCOMES:
            raise RequestError(
                f"outcome {outcome} has {values:,} values and at most {MOST_OUTCOMES} are counted",
                where=source.name,
                instead="put them in bands",
            )
    return tuple(counted)


def _check_column(source: Source, role: str, column: str) -> None:
    if column not in source.columns:
        raise RequestError(
            f"{role} column {column} is not a column",
            where=source.name,
            instead=nearest(column, source.columns),
        )


def _count_values(
    source: Source,
    domains: Sequence[ValueDomain],
    codes: NDArray[np.int32],
    column: str,
    subject: str | None,
) -> tuple[NDArray[np.float64], list[Any]]:
    sizes = [len(domain) for domain in domains]
    quasi = [domain.column for domain in domains]
    table = count_combinations(source, [*quasi, column], subject=subject, floats=quasi)
    own = np.column_stack([d.codes(table.column(d.column)) for d in domains]).astype(np.int32)
    cell = np.searchsorted(row_keys(codes, sizes), row_keys(own, sizes))
    value = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
    counted = np.zeros((len(codes), len(value.dictionary)))
    np.add.at(counted, (cell, value.indices.to_numpy()), table.column("count").to_numpy())
    return counted, value.dictionary.to_pylist()


def join(
    domains: Sequence[ValueDomain],
    codes: NDArray[np.int32],
    sample: NDArray[np.float64],
    population: PopulationCounts,
    sensitive: NDArray[np.float64],
    outcomes: Sequence[NDArray[np.float64]] = (),
    columns: tuple[SensitiveColumn, ...] = (),
) -> CombinationCounts:
    """Merge sample and population into one list of combinations, with zeros for missing counts."""
    sizes = tuple(len(domain) for domain in domains)
    stacked = np.concatenate((codes, population.codes))
    keys = row_keys(stacked, sizes)
    distinct, first, place = np.unique(keys, return_index=True, return_inverse=True)
    of_sample, of_people = place[: len(codes)], place[len(codes) :]
    counts = CombinationCounts(
        sizes,
        stacked[first],
        np.zeros(len(distinct)),
        np.zeros(len(distinct)),
        np.zeros((len(distinct), sensitive.shape[1])),
        tuple(np.zeros((len(distinct), counted.shape[1])) for counted in outcomes),
        columns,
    )
    counts.sample[of_sample] = sample
    counts.population[of_people] = population.people
    counts.sensitive[of_sample] = sensitive
    for whole, counted in zip(counts.outcomes, outcomes, strict=True):
        whole[of_sample] = counted
    return counts
