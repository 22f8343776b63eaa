"""Recount a kit for other rows: keep its domains and policies, and count other people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Source
from voile.data.hold_out import TrainingSource
from voile.tables.domains.domain import OUTSIDE, ValueDomain
from voile.tables.people.combinations import (
    QuasiCombinations,
    count_outcomes,
    count_sample,
    count_sensitive,
    encode,
    join,
)
from voile.tables.people.counts import CombinationCounts, SensitiveColumn
from voile.tables.people.population import fill_gaps, from_sample
from voile.tables.policies.counted_space import CountedSpace
from voile.tables.policies.scores import score_marks
from voile.tables.verbs.content import TablesContent, measure_of

RECOUNTED = (
    "The policy comes from a kit fitted on other rows. This release's own figures are counted on "
    "its rows; those of the other policies are of the rows that the kit was fitted on."
)


def count_anew(content: TablesContent, source: Source) -> CombinationCounts:
    """Count a source's subjects in a kit's domains, without rows outside these domains.

    `apply` rejects those rows. The cost is that of a fit. If there are such rows, every row is read
    here once for each count.

    Raises
    ------
    RequestError : no row has all values in the domains, or the kit's population lacks some of these
        rows. Also if the kit estimated its numbers of people from its own rows.
    """
    space, subject = content.space, content.roles.subject
    _check_known(content)
    domains = space.domains
    rows = TrainingSource(source, content.hold_out) if content.hold_out.share else source
    counted = count_sample(rows, space.quasi, subject)
    if _strange(domains, counted):
        rows = _RowsWithin(rows, domains)
        counted = count_sample(rows, space.quasi, subject)
    if not counted.table.num_rows:
        raise RequestError(
            "no row has values in the kit's domains",
            where=source.name,
            instead="fit on this source",
        )
    codes, sample = encode(domains, counted)
    population = from_sample(codes, sample)
    if space.population.known:
        held = space.counts.population > 0
        counts = space.counts
        known = replace(space.population, codes=counts.codes[held], people=counts.population[held])
        population = fill_gaps(domains, codes, sample, known)
    values, columns = count_sensitive(rows, domains, codes, content.sensitive, subject)
    outcomes = count_outcomes(rows, domains, codes, content.outcomes, subject)
    return join(domains, codes, sample, population, values, outcomes, columns)


def with_counts(content: TablesContent, counts: CombinationCounts) -> TablesContent:
    """Return a kit's content with the counts of other rows, which its policies' scores then use."""
    space = content.space
    people = replace(
        space.population,
        codes=counts.codes,
        people=counts.population,
        assumptions=(*space.population.assumptions, RECOUNTED),
    )
    measures = [
        measure_of(kind, content.measures, counts, space.weights) for kind in ("risk", "loss")
    ]
    counted = CountedSpace(
        space.domains,
        counts,
        space.constraints,
        people,
        risk=measures[0],
        loss=measures[1],
        weights=space.weights,
    )
    return replace(
        content,
        space=counted,
        mark_scores=score_marks(counted, content.marks),
        bound=None,
        analysis=None,
    )


def pack_counts(counts: CombinationCounts) -> dict[str, Any]:
    """Return counts as numbers, arrays and tuples, for another process."""
    stored = {one.name: getattr(counts, one.name) for one in fields(counts)}
    return {**stored, "columns": tuple(map(tuple, counts.columns))}


def unpack_counts(given: Mapping[str, Any]) -> CombinationCounts:
    return CombinationCounts(
        **{**given, "columns": tuple(SensitiveColumn(*one) for one in given["columns"])}
    )


def _check_known(content: TablesContent) -> None:
    """Raise an error if people, or a measure, are known only for the fitted rows."""
    people = content.space.population
    filled = any("population lacks" in said for said in people.assumptions)
    own = [asked.name for kind, asked in content.measures.items() if not asked.ours(kind)]
    if own:
        why = f"kits have no code, and so not the measure {own[0]}"
    elif people.weighted or people.boxes is not None or content.fraction is not None or filled:
        why = "its numbers of people were estimated from the rows that it was fitted on"
    else:
        return
    raise RequestError(f"the kit cannot be recounted: {why}", instead="fit on this source")


def _strange(domains: Sequence[ValueDomain], counted: QuasiCombinations) -> bool:
    return any((d.codes(counted.table.column(d.column)) == OUTSIDE).any() for d in domains)


class _RowsWithin(Source):
    """The rows of a source with all values in their domains."""

    def __init__(self, source: Source, domains: Sequence[ValueDomain]) -> None:
        super().__init__(source.name, source.kind, source.schema(), source.notes)
        self._source, self._domains = source, domains

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        quasi = [domain.column for domain in self._domains]
        for batch in self._source.batches(dict.fromkeys([*columns, *quasi]), batch_rows=rows):
            within = np.ones(len(batch), dtype=np.bool_)
            for domain in self._domains:
                within &= domain.codes(batch.column(domain.column)) != OUTSIDE
            yield batch.filter(pa.array(within)).select(columns)

    def fingerprint(self) -> str:
        return self._source.fingerprint()
