"""Search the written bytes of a release for unreleased values of its people.

Columns with a role to keep are released unchanged, or with shifted dates. Texts and items are
released in part. Every other column of a source is unreleased: identifiers, dropped and generalised
columns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.data import Source
from voile.data.roles import AS_IT_IS
from voile.gate.finding import GateFinding, StatedAdversary
from voile.gate.values.findings import ValueFinding
from voile.gate.values.search import (
    TEXT_COLUMNS,
    VALUE_COLUMNS,
    Column,
    SearchInputs,
    search_values,
)
from voile.release.found_values import NOT_SEARCHED, VALUES_FOUND, is_large

MOST_ROWS = 100_000
"""The most released rows that `apply` searches. More would take longer than making the release."""
HOLDER = StatedAdversary("has the source, and knows each person's values", "release and source")


@dataclass(frozen=True)
class SearchedPart:
    """Released rows or texts, with their source.

    Parameters
    ----------
    name : the name of a part of a study, or "" for a release by itself.
    rows, numbers : the released rows, and the source row number of each.
    source : the source of the release.
    subject : the source's column of people. Without one, each row is a person.
    roles : the roles of the source's columns.
    described : the released columns, as in the public manifest.
    only : the released columns that are searched [all].
    skipped : columns too large to search.
    most_rows : the number of released rows to search, from the first. Only their people count.
    """

    name: str
    rows: Source
    numbers: pa.Array
    source: Source
    subject: str | None
    roles: Mapping[str, str]
    described: Sequence[Mapping[str, Any]]
    only: Collection[str] | None = None
    skipped: Collection[str] = ()
    most_rows: int | None = None

    @property
    def unreleased_columns(self) -> list[str]:
        """The columns of the source that are not released, in full or in part."""
        released = (*AS_IT_IS, "text", "items")
        return [
            one
            for one in self.source.columns
            if self.roles.get(one) not in released and one not in self.skipped
        ]

    @property
    def searched_columns(self) -> list[str]:
        """The released columns that are searched."""
        every = self.rows.columns if self.only is None else self.only
        return [one for one in every if one not in self.skipped]

    @property
    def generalised(self) -> list[Column]:
        """The columns that are released as labels."""
        return [(self.name, one["column"]) for one in self.described if one["role"] == "quasi"]

    def labels(self) -> set[str]:
        """Return the distinct labels of the release."""
        columns = [column for _, column in self.generalised]
        found: set[str] = set()
        for batch in self.rows.batches(columns) if columns else ():
            found |= {one for x in batch.columns for one in _as_text(x).unique().to_pylist() if one}
        return found

    def values(self) -> Iterator[pa.RecordBatch]:
        """Yield the unreleased values of the people of the source."""
        columns, first, some = self.unreleased_columns, 0, self._searched_people()
        subject = [] if self.subject is None else [self.subject]
        for rows in self.source.batches(list(dict.fromkeys([*subject, *columns]))):
            batch, people = rows, self._people_of(rows, first)
            first += len(rows)
            if some is not None:
                is_one = pc.is_in(people, some)
                batch, people = rows.filter(is_one), people.filter(is_one)
            for column in columns:
                yield as_cells(people, self.name, column, batch.column(column), VALUE_COLUMNS)

    def texts(self) -> Iterator[pa.RecordBatch]:
        """Yield the released cells of the searched columns, with the person of each row."""
        people = None if self.subject is None else self._read_people(self.subject)
        first = 0
        for rows in self.rows.batches(self.searched_columns):
            left = len(rows) if self.most_rows is None else self.most_rows - first
            if left <= 0:
                return
            batch = rows.slice(0, left)
            numbers = self.numbers.slice(first, len(batch))
            whose = numbers if people is None else people.take(numbers)
            first += len(batch)
            for column in batch.schema.names:
                yield as_cells(whose, self.name, column, batch.column(column), TEXT_COLUMNS)

    def _searched_people(self) -> pa.Array | None:
        """Return the people of the searched rows, or None if all rows are searched."""
        if self.most_rows is None or len(self.numbers) <= self.most_rows:
            return None
        numbers = self.numbers.slice(0, self.most_rows)
        return numbers if self.subject is None else self._read_people(self.subject).take(numbers)

    def _people_of(self, batch: pa.RecordBatch, first: int) -> pa.Array:
        if self.subject is None:
            return pa.array(np.arange(first, first + len(batch)))
        return batch.column(self.subject)

    def _read_people(self, subject: str) -> pa.Array:
        return self.source.read([subject]).column(0).combine_chunks()


def count_beyond_chance(found: Sequence[ValueFinding]) -> GateFinding:
    """Return the number of people with own values in the release, or 0 if chance explains it."""
    people = max((round(x.beyond_chance) for x in found if x.exceeds_chance), default=0)
    return HOLDER.finds(VALUES_FOUND, people, "people")


class SearchableRelease(Protocol):
    """An object with unreleased values of people and with their released cells."""

    @property
    def generalised(self) -> Sequence[Column]:
        """The columns that are released as labels."""
        ...

    def labels(self) -> set[str]:
        """Return the distinct labels of the release."""
        ...

    def values(self) -> Iterator[pa.RecordBatch]:
        """Yield the unreleased values of every person of the source."""
        ...

    def texts(self) -> Iterator[pa.RecordBatch]:
        """Yield the released cells, with the person of each row."""
        ...


def inputs_of(parts: Sequence[SearchableRelease]) -> SearchInputs:
    """Return the inputs of the search for several parts together."""
    return SearchInputs(
        values=lambda: (batch for part in parts for batch in part.values()),
        texts=lambda: (batch for part in parts for batch in part.texts()),
        generalised=[column for part in parts for column in part.generalised],
        labels={label for part in parts for label in part.labels()},
    )


def search_part(
    part: SearchedPart, directory: Path | None = None
) -> tuple[tuple[ValueFinding, ...], tuple[GateFinding, ...]]:
    """Search the kept, sensitive and free text of one release. Labels alone need no search.

    At most `MOST_ROWS` released rows are searched, and `n` of a finding is the number of their
    people. The rows of a release are in random order unless the source's order is kept.

    Returns
    -------
    The findings of the search, and the number of columns that are too large for it, if there are
    any.
    """
    whole = find_text_columns(part)
    if not whole or not part.unreleased_columns:
        return (), ()
    large = [*find_large(part.rows, whole), *find_large(part.source, part.unreleased_columns)]
    skipped = (HOLDER.finds(NOT_SEARCHED, len(large), "columns"),) if large else ()
    left = replace(part, only=whole, skipped=frozenset(large), most_rows=MOST_ROWS)
    if not left.searched_columns or not left.unreleased_columns:
        return (), skipped
    return search_values(inputs_of([left]), directory=directory), skipped


def find_text_columns(part: SearchedPart) -> list[str]:
    """Return the released text columns that are unchanged or free text."""
    roles = {one["column"]: one["role"] for one in part.described}
    return [
        name
        for name, kind in part.rows.columns.items()
        if _is_text(kind) and roles.get(name) in (*AS_IT_IS, "text")
    ]


def find_large(source: Source, columns: Sequence[str]) -> list[str]:
    """Return the text columns that have more bytes than a search reads."""
    texts = [name for name in columns if _is_text(source.columns[name])]
    sizes = dict.fromkeys(texts, 0)
    for batch in source.batches(texts) if texts else ():
        for name in texts:
            sizes[name] += pc.sum(pc.binary_length(_as_text(batch.column(name)))).as_py() or 0
    return [name for name, size in sizes.items() if is_large(size)]


def as_cells(
    people: Any, part: str, column: str, cells: Any, names: tuple[str, ...]
) -> pa.RecordBatch:
    """Return the cells of one column with their people, in the form that the search reads."""
    where = (pa.array([one]).take(pa.repeat(0, len(cells))) for one in (part, column))
    return pa.record_batch([_as_text(people), *where, _as_text(cells)], names=list(names))


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_text(cells: Any) -> Any:
    """Return cells as text. Lists and structures are written as in Python."""
    if pa.types.is_nested(cells.type):
        return pa.array([None if x is None else str(x) for x in cells.to_pylist()], pa.string())
    return pc.cast(cells, pa.large_string())
