"""What the released rows of the table show of each person: no text may say more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.brief import Brief
from voile.data import Source
from voile.data.source import BATCH_ROWS
from voile.keys.pseudonyms import pseudonym
from voile.keys.secret import Secret
from voile.release.manifest import ROW
from voile.tables.domains.parser import NotInKind
from voile.tables.recoding.codebook import Codebook, CodedColumn

Entries = Mapping[str, frozenset[int]]


@dataclass(frozen=True, eq=False)
class Shown(Brief):
    """The intervals of each person's released rows, by column, under the person's pseudonym.

    Memory: one set of intervals a person and column.
    """

    codebook: Codebook
    secret: Secret = field(repr=False)
    people: Mapping[str, Entries] = field(repr=False)

    @classmethod
    def of(
        cls,
        release: Source,
        rows: Source,
        source: Source,
        *,
        subject: str,
        codebook: Codebook,
        secret: Secret,
    ) -> Shown:
        """Read a released table beside the numbers that its rows have in the source."""
        people: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        named = cache(lambda one: pseudonym(secret, one))
        subjects = source.read([subject]).column(0).combine_chunks()
        for batch, numbers in _together(release, rows, codebook.released):
            codes = codebook.released_codes(pa.Table.from_batches([batch]))
            for person, own in zip(subjects.take(numbers).to_pylist(), codes.tolist(), strict=True):
                shown = people[named(person)]
                for column, entry in zip(codebook.columns, own, strict=True):
                    shown[column.column].add(entry)
        frozen = {
            name: {column: frozenset(entries) for column, entries in shown.items()}
            for name, shown in people.items()
        }
        return cls(codebook, secret, frozen)

    def has(self, subject: str) -> bool:
        return self.name_of(subject) in self.people

    def labels(self, subject: str, column: str) -> tuple[str, ...]:
        """Return what a person's rows show of a column."""
        entries = self.people.get(self.name_of(subject), {}).get(column, frozenset())
        return tuple(self.codebook.column(column).entries[n].label for n in sorted(entries))

    def label(self, subject: str, column: str, cell: str) -> str | None:
        """Return the interval of the person's rows that holds a raw value; None where none does."""
        entries = self.people.get(self.name_of(subject), {}).get(column, frozenset())
        held = sorted(entries & self._holding(column, cell))
        return self.codebook.column(column).entries[held[0]].label if held else None

    @cached_property
    def name_of(self) -> Any:
        return cache(lambda one: pseudonym(self.secret, one))

    @cached_property
    def _holding(self) -> Any:
        return cache(lambda column, cell: _entries_with(self.codebook.column(column), cell))


def _entries_with(column: CodedColumn, cell: str) -> frozenset[int]:
    """Return the intervals that hold a raw value; none where it cannot be read."""
    try:
        column.parser(cell)
    except NotInKind:
        return frozenset()
    held, _ = column.membership(pa.array([cell]), blank_is_unknown=False)
    return frozenset(np.flatnonzero(held[:, 0]).tolist())


def _together(
    release: Source, rows: Source, columns: Sequence[str]
) -> Iterator[tuple[pa.RecordBatch, pa.Array]]:
    """Yield released rows beside their numbers in the source."""
    numbers = rows.read([ROW]).column(0).combine_chunks()
    first = 0
    for batch in release.batches(columns, batch_rows=BATCH_ROWS):
        yield batch, numbers.slice(first, len(batch))
        first += len(batch)
