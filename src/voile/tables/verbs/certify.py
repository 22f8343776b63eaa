"""The certificate: what a written release discloses, counted on the release itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.errors import TamperedError
from voile.data import Source
from voile.data.source import identifier
from voile.engines.counting import count_combinations
from voile.engines.duck import connect
from voile.tables.people.combinations import row_keys
from voile.tables.policies.space import PolicySpace
from voile.tables.recoding.codebook import UNKNOWN, Codebook
from voile.tables.recoding.published import Published
from voile.tables.scoring.disclosure import Classes, disclosure, of_column

OF_SENSITIVE = ("distinct_l", "entropy_l", "t_closeness")
"""What is measured of each sensitive column."""
PERSON = "voile person"


class WithPerson(Source):
    """A release's rows beside the token of the person that each is about."""

    def __init__(self, release: Source, people: Source) -> None:
        fields = [pa.field(name, type_) for name, type_ in release.columns.items()]
        fields.append(pa.field(PERSON, pa.int64()))
        super().__init__(release.name, release.kind, fields)
        self._release, self._people = release, people

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        shown = [name for name in columns if name != PERSON]
        if PERSON not in columns:
            yield from self._release.batches(shown, batch_rows=rows)
            return
        tokens = self._people.batches(["person"], batch_rows=rows)
        if not shown:
            for token in tokens:
                yield pa.RecordBatch.from_arrays([token.column(0)], [PERSON])
            return
        for batch, token in zip_longest(
            _evenly(self._release.batches(shown, batch_rows=rows), rows),
            _evenly(tokens, rows),
        ):
            if batch is None or token is None or len(batch) != len(token):
                raise TamperedError("the release has not the rows that its people have")
            whole = batch.append_column(PERSON, token.column(0))
            yield whole.select(columns)

    def fingerprint(self) -> str:
        """Hash the release alone."""
        return self._release.fingerprint()


def _evenly(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Cut batches anew so that all but the last have exactly `rows` rows."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += len(batch)
        while held >= rows:
            whole = pa.Table.from_batches(waiting).combine_chunks()
            yield whole.slice(0, rows).combine_chunks().to_batches()[0]
            waiting = whole.slice(rows).to_batches()
            held -= rows
    if held:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


def certify(
    release: Source,
    people: Source | None,
    codebook: Codebook,
    *,
    published: Published | None = None,
    space: PolicySpace | None = None,
    sensitive: Sequence[str] = (),
    unknown: Sequence[str] = (),
    suppressed: float = 0.0,
    directory: Path | None = None,
) -> dict[str, float]:
    """Count a release's equivalence classes where it lies, and compute every measure of them.

    Parameters
    ----------
    release : the release. people : its `person` tokens in the same order, None when a row is one.
    published, space : where the population's counts are; without them g is the release's own.
    sensitive : columns whose l-diversity and t-closeness are measured, unless they are floats.
    unknown : columns that nobody can know of a person beforehand: her pseudonym.
    suppressed : subjects that were dropped.
    directory : where rows may spill while a query runs.

    Returns
    -------
    The measures by name; those of a sensitive column as ``name(column)``;
    ``unique_with_kept``, people whom the released columns together tell from all others; and
    ``subjects`` and ``suppressed``, the people released and dropped. ``k`` is the least number
    of people who have a row in a group, nobody's rows spread.
    """
    counted: Source = release if people is None else WithPerson(release, people)
    subject = None if people is None else PERSON
    classes, _ = _classes(counted, codebook, subject, published, space, directory)
    figures = disclosure(classes, suppressed=suppressed)
    figures |= {"subjects": float(round(classes.sample.sum())), "suppressed": float(suppressed)}
    if subject is not None and len(classes.sample):
        figures["k"] = float(_least_group(counted, codebook.released, directory))
    for column in sensitive:
        if pa.types.is_floating(release.columns[column]):
            continue
        by_value = _by_value(counted, codebook, column, subject, directory)
        if not len(by_value):
            continue
        found = disclosure(Classes(by_value.sum(1), by_value.sum(1), by_value))
        for name in OF_SENSITIVE:
            figures[of_column(name, column)] = found[name]
    known = [name for name in release.columns if name not in unknown]
    figures["unique_with_kept"] = float(_unique(counted, known, subject, directory))
    return figures


def _least_group(counted: Source, columns: Sequence[str], directory: Path | None) -> int:
    keys = ", ".join(identifier(name) for name in columns)
    sql = f"SELECT count(DISTINCT {identifier(PERSON)}) AS n FROM source GROUP BY {keys}"
    with connect(directory=directory) as connection:
        relation = counted.relation(connection, [*columns, PERSON])
        row = relation.query("source", f"SELECT min(n) FROM ({sql})").fetchone()
    return int(row[0]) if row else 0


def _classes(
    counted: Source,
    codebook: Codebook,
    subject: str | None,
    published: Published | None,
    space: PolicySpace | None,
    directory: Path | None,
) -> tuple[Classes, Any]:
    table = count_combinations(counted, codebook.released, subject=subject, directory=directory)
    codes = codebook.released_codes(table)
    sample = table.column("count").to_numpy()
    population = sample
    if published is not None and space is not None:
        sizes = [len(column.entries) for column in codebook.columns]
        own = np.column_stack(
            [published.entries(i, d)[space.counts.codes[:, i]] for i, d in enumerate(space.domains)]
        )
        shown = (own != UNKNOWN).all(axis=1)  # nobody else shares a group with a released row
        keys, place = np.unique(row_keys(own[shown], sizes), return_inverse=True)
        people = np.bincount(place, weights=space.counts.population[shown], minlength=len(keys))
        wanted = row_keys(codes, sizes)
        at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
        population = np.where(keys[at] == wanted, people[at], 0.0) if len(keys) else sample
    return Classes(sample, population, np.zeros((len(sample), 0))), codes


def _by_value(
    counted: Source, codebook: Codebook, column: str, subject: str | None, directory: Path | None
) -> np.ndarray[Any, np.dtype[np.float64]]:
    columns = [*codebook.released, column]
    table = count_combinations(counted, columns, subject=subject, directory=directory)
    codes = codebook.released_codes(table)
    sizes = [len(c.entries) for c in codebook.columns]
    groups, place = np.unique(row_keys(codes, sizes), return_inverse=True)
    values = table.column(column).combine_chunks().dictionary_encode(null_encoding="encode")
    by_value = np.zeros((len(groups), len(values.dictionary)))
    np.add.at(by_value, (place, values.indices.to_numpy()), table.column("count").to_numpy())
    return by_value


def _unique(
    counted: Source, columns: Sequence[str], subject: str | None, directory: Path | None
) -> int:
    """Count the people of whom some released row is nobody else's, these columns read."""
    if not columns:
        return 0
    keys = ", ".join(f"{identifier(name)}::VARCHAR" for name in columns)
    alone = "count(*) = 1" if subject is None else f"count(DISTINCT {identifier(PERSON)}) = 1"
    who = "1 AS p" if subject is None else f"any_value({identifier(PERSON)}) AS p"
    people = "count(*)" if subject is None else "count(DISTINCT p)"
    wanted = [*columns, *([] if subject is None else [PERSON])]
    with connect(directory=directory) as connection:
        relation = counted.relation(connection, wanted)
        sql = f"SELECT {people} FROM (SELECT {who} FROM source GROUP BY {keys} HAVING {alone})"
        row = relation.query("source", sql).fetchone()
    return int(row[0]) if row else 0
