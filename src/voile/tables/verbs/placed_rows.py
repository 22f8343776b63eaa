"""Place the rows of a source in the groups of released rows, according to the written labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import TamperedError
from voile.data import Source
from voile.gate.analysts import ReleasedLabels, count_misplaced, measure_utility
from voile.gate.finding import GateFinding
from voile.gate.losses import PlacedRows, measure_losses, number_tuples
from voile.gate.source_risks import measure_source
from voile.release.manifest import ROW
from voile.release.outcomes import SourceBatch, WrittenRelease
from voile.tables.domains.domain import OUTSIDE, ValueDomain
from voile.tables.people.counts import CombinationCounts
from voile.tables.recoding.codebook import ReleaseCodebook
from voile.tables.recoding.published_boxes import AnyPublished
from voile.tables.recoding.raking import rake_values
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.measure_release import NOT_RELEASED, count_population


def measure_against_source(
    batches: Iterable[SourceBatch],
    written: WrittenRelease[AnyPublished],
    codebook: ReleaseCodebook,
    content: TablesContent,
    matches: float,
) -> tuple[GateFinding, ...]:
    """Measure the losses of a written release and its source's risks. The source is read again.

    `batches` are those of `place_rows`, and `matches` are the expected matches of the release. A
    kit with a custom loss has no `information_loss`. A table without quasi-identifiers has no loss,
    since nothing of it is generalised.

    Raises
    ------
    TamperedError : a released label does not cover the value of its row in the source.
    """
    space = content.space
    if not space.domains:  # a table of kept events without any loss
        return ()
    rows, labels = place_rows(
        batches,
        written.rows,
        written.truth,
        codebook,
        space.domains,
        content.roles.subject,
        counts=space.counts if space.counts_others else None,
    )
    weight = {"weighted": space.weights.loss_weight, "information": 1.0}
    misplaced = count_misplaced(rows, labels)
    if misplaced.value:
        raise TamperedError(
            f"the labels of {misplaced.value:,.0f} people do not cover their values",
            where=written.rows.name,
            instead="apply again; if it fails again, report a fault of voile",
        )
    importance = space.weights.importance
    losses = measure_losses(
        rows,
        weight=weight.get(content.measures["loss"].name),
        importance=importance,
    )
    likely = rake_marginals(rows, labels, written.known, space.quasi)
    utility = measure_utility(rows, labels, space.quasi, likely=likely, importance=importance)
    return (misplaced, *losses, *utility, *measure_source(rows, matches))


def place_rows(
    batches: Iterable[SourceBatch],
    release: Source,
    numbers: Source,
    codebook: ReleaseCodebook,
    domains: Sequence[ValueDomain],
    subject: str | None = None,
    *,
    counts: CombinationCounts | None = None,
) -> tuple[PlacedRows, ReleasedLabels]:
    """Place the rows of a source in the groups of a written release, and return its labels.

    Held-out rows, and rows with a value outside its domain, do not count.

    Parameters
    ----------
    batches : batches of the source: its quasi-identifiers, and its subject if it has one.
    numbers : the row map, which contains the source's row number of each released row.
    subject : the column of people. If None, every row is a person.
    counts : the counts of the population. If None, no other people are known.

    Memory: O(rows x columns), 1 to 4 bytes for a value.
    """
    values, people, rows = [np.zeros((0, len(domains)), np.uint8)], [], 0
    counted = [np.zeros(0, np.int64)]
    for batch in batches:
        codes = np.column_stack([one.codes(batch.rows.column(one.column)) for one in domains])
        fits = batch.counted & (codes != OUTSIDE).all(axis=1)
        counted.append(batch.numbers[fits])
        values.append(codes[fits].astype(np.min_scalar_type(max(map(len, domains)))))
        if subject is not None:
            people.append(batch.rows.column(subject).filter(pa.array(fits)))
        rows += len(batch.numbers)
    group = np.full(rows, NOT_RELEASED, dtype=np.int64)
    entries, places = _released_groups(release, codebook)
    group[numbers.read([ROW]).column(0).to_numpy()] = places
    covered = [c.hold(d.values) for c, d in zip(codebook.columns, domains, strict=True)]
    labels = ReleasedLabels(entries, covered)
    placed = PlacedRows.of_rows(
        np.concatenate(values),
        group[np.concatenate(counted)],
        labels.widths,
        [*map(len, domains)],
        _number_people(people) if people else None,
        people_of=None if counts is None else partial(count_population, counts),
    )
    return placed, labels


def rake_marginals(
    rows: PlacedRows, labels: ReleasedLabels, published: AnyPublished, names: Sequence[str]
) -> list[NDArray[Any]] | None:
    """Rake the released people of each label to the published marginals.

    The result is None if there are no marginals.
    """
    runs = {one.column: one for one in published.marginals}
    if not runs:
        return None
    kept = rows.group >= 0
    likely: list[NDArray[Any]] = list(labels.covered)
    for place, name in enumerate(names):
        if name in runs:
            inside = labels.covered[place]
            label = labels.label[rows.group[kept], place]
            people = np.bincount(label, rows.people[kept], len(inside)).astype(np.float64)
            public = np.array(runs[name].public.people, dtype=np.float64)
            likely[place] = rake_values(inside, people, published.begins[name], public)
    return likely


def _released_groups(
    release: Source, codebook: ReleaseCodebook
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the entries of each released group, (groups, q), and the group of each row."""
    batches = release.batches([name for column in codebook.columns for name in column.released])
    parts = [codebook.released_codes(pa.Table.from_batches([batch])) for batch in batches]
    codes = np.concatenate([np.zeros((0, len(codebook.columns)), np.int32), *parts])
    places = number_tuples(*codes.T)
    entries = np.zeros((int(places.max(initial=-1)) + 1, codes.shape[1]), dtype=np.int32)
    entries[places] = codes
    return entries, places


def _number_people(names: Sequence[pa.Array]) -> NDArray[np.int64]:
    """Number people. A row without a name is a separate person."""
    coded = pa.chunked_array(names).combine_chunks().dictionary_encode()
    numbers: NDArray[np.int64] = coded.indices.fill_null(-1).to_numpy().astype(np.int64)
    nobody = numbers < 0
    numbers[nobody] = len(coded.dictionary) + np.arange(int(nobody.sum()))
    return numbers
