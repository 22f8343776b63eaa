"""The values of each person in the table's released rows. No text may reveal more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from voile.core.brief import BriefRepr
from voile.data import Source
from voile.data.source import BATCH_ROWS
from voile.keys.pseudonyms import pseudonym
from voile.keys.secret import Secret
from voile.release.manifest import source_rows
from voile.tables.domains.parser import NotInKind
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn, ReleaseCodebook

Entries = Mapping[str, frozenset[int]]
_NONE = frozenset[int]()
MOST = 1000
"""Maximum whole numbers of an interval that are listed. A mention never states more."""


@dataclass(frozen=True, eq=False)
class PersonIntervals(BriefRepr):
    """The intervals of each person's released rows, by column, under the person's pseudonym.

    Memory: one pseudonym per person. People with the same intervals share them.
    """

    codebook: ReleaseCodebook
    secret: Secret = field(repr=False)
    people: Mapping[str, Entries] = field(repr=False)
    suppressed: Set[str] = field(default=frozenset(), repr=False)
    """The pseudonyms of people of the table without a released row."""

    @classmethod
    def of(
        cls,
        release: Source,
        private: Path,
        source: Source,
        *,
        subject: str,
        codebook: ReleaseCodebook,
        secret: Secret,
    ) -> PersonIntervals:
        """Read a released table, with its private folder and its source."""
        people: dict[str, Entries] = {}
        names = [column.column for column in codebook.columns]
        shared: dict[tuple[frozenset[int], ...], Entries] = {}
        named = cache(lambda one: pseudonym(secret, one))
        subjects = source.read([subject]).column(0).combine_chunks()
        for batch, numbers in _together(release, private, codebook.released_columns):
            codes = codebook.released_codes(pa.Table.from_batches([batch]))
            for one, own in zip(subjects.take(numbers).to_pylist(), codes.tolist(), strict=True):
                person = named(one)
                seen = people.get(person, {})
                sets = tuple(seen.get(n, _NONE) | {x} for n, x in zip(names, own, strict=True))
                people[person] = shared.setdefault(sets, dict(zip(names, sets, strict=True)))
        every = map(named, subjects.unique().drop_null().to_pylist())
        return cls(codebook, secret, people, frozenset(every) - people.keys())

    def has(self, subject: str) -> bool:
        return self.name_of(subject) in self.people

    def is_suppressed(self, subject: str) -> bool:
        return self.name_of(subject) in self.suppressed

    def labels(self, subject: str, column: str) -> tuple[str, ...]:
        """Return a person's released values of a column."""
        entries = self.codebook.column(column).entries
        return tuple(entries[n].label for n in sorted(self._entries(subject, column)))

    def label(self, subject: str, column: str, cells: Sequence[str]) -> str | None:
        """Return the interval of the person's rows with most of some raw values, or None."""
        entries = self._entries(subject, column)
        held = Counter(n for cell in cells for n in sorted(entries & self._holding(column, cell)))
        return (
            self.codebook.column(column).entries[held.most_common(1)[0][0]].label if held else None
        )

    def shows_within(self, subject: str, column: str, cells: Sequence[str]) -> bool:
        """Return whether all values of an interval of the person's rows are among these values.

        Also return True if these are all values of the column. A text that states one of the values
        then reveals no more than that row.
        """
        book, said = self.codebook.column(column), frozenset(cells)
        listed = frozenset(x for entry in book.entries for x in entry.values)
        if listed and said >= listed:
            return True
        values = (_values_of(book, book.entries[n]) for n in self._entries(subject, column))
        return any(own and said.issuperset(own) for own in values)

    def _entries(self, subject: str, column: str) -> frozenset[int]:
        return self.people.get(self.name_of(subject), {}).get(column, frozenset())

    @cached_property
    def name_of(self) -> Any:
        return cache(lambda one: pseudonym(self.secret, one))

    @cached_property
    def _holding(self) -> Any:
        return cache(lambda column, cell: _entries_with(self.codebook.column(column), cell))


def _values_of(column: CodedColumn, entry: CodebookEntry) -> Sequence[str]:
    """Return all values of an interval. Empty if it is open or the values cannot be listed."""
    if entry.missing or entry.below is not None:
        return ()
    if entry.values or entry.first is None or entry.last is None:
        return entry.values
    if column.kind == "integer" and entry.first.isdecimal() and entry.last.isdecimal():
        whole = range(int(entry.first), int(entry.last) + 1)
        return [str(n) for n in whole] if len(whole) <= MOST else ()
    return [entry.first] if entry.first == entry.last else ()


def _entries_with(column: CodedColumn, cell: str) -> frozenset[int]:
    """Return the intervals that contain a raw value. Empty if it cannot be read."""
    try:
        column.parser(cell)
    except NotInKind:
        return frozenset()
    held, _ = column.membership(pa.array([cell]), blank_is_unknown=False)
    return frozenset(np.flatnonzero(held[:, 0]).tolist())


def _together(
    release: Source, private: Path, columns: Sequence[str]
) -> Iterator[tuple[pa.RecordBatch, pa.Array]]:
    """Yield released rows with their numbers in the source."""
    numbers = source_rows(private)
    first = 0
    for batch in release.batches(columns, batch_rows=BATCH_ROWS):
        yield batch, numbers.slice(first, len(batch))
        first += len(batch)
