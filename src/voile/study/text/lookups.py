"""The lookup values of a study: all unreleased values of a person, to be removed from its texts.

The role of a column decides, not its header. Identifiers, dropped columns and generalised columns
of every part count, and all data of an export on its people. The words of all columns of a person's
names form one name. A value that many people share is not a lookup value. The exceptions are
columns of names, numbers, days or contact details. A name that notes use as a word is only removed
together with its other words.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from voile.data import Source
from voile.data.column_words import glossary
from voile.data.column_words import mentions as mentions_words
from voile.data.roles import AS_IT_IS
from voile.data.source import BATCH_ROWS
from voile.documents.model.start.known.cells import SCHEMA, subject_of, texts_of
from voile.documents.model.start.known.columns import Kind, kind_of_column
from voile.documents.model.start.known.days import read_days
from voile.documents.model.start.known.known_values import KnownValues
from voile.documents.replacements.kinds import kind_of
from voile.documents.replacements.removal import TextRemoval
from voile.documents.text.document import Document
from voile.gate.values.search import SearchLimits
from voile.study.plan.entries import MentionEntry

LOOKED_AT = 1000
"""The number of first rows that decide the kind of a column."""
NAME_WORDS = 3
"""Maximum words of a name in one column."""
DISTINCT = 0.5
"""Share of distinct values for a column of names without a matching header."""
SHORTEST = 3
"""Minimum letters and digits of a lookup value."""
BORN, VALUE = "BIRTHDATE", "VALUE"
"""Types of a day of birth if the plan drops no type of date, and of values of unknown kind."""
SHARED: tuple[Kind | None, ...] = (None, "place", "organisation")
"""Kinds of values that are lookup values only if few people have them."""
_DIGITS_BEHIND = re.compile(r"(?<=[^\W\d_]{3})\d+\b")


@dataclass(frozen=True)
class UnreleasedColumns:
    """The columns of one table of people that are not released unchanged.

    columns : by column, the quasi-identifier's name, or "" for other columns.
    """

    name: str
    source: Source
    subject: str
    columns: Mapping[str, str]


def unreleased_of(
    name: str, source: Source, subject: str, roles: Mapping[str, str]
) -> UnreleasedColumns:
    """Return the unreleased columns of a part by role. Columns without a role are dropped."""
    released = (*AS_IT_IS, "text", "items")
    own = {column: roles.get(column, "drop") for column in source.columns}
    columns = {x: x if role == "quasi" else "" for x, role in own.items() if role not in released}
    return UnreleasedColumns(name, source, subject, columns)


@dataclass(frozen=True)
class _LookupColumn:
    """The kind under which the values of a column are searched, and their type."""

    name: str
    kind: Kind
    label: str
    is_shared: bool


@dataclass(frozen=True, eq=False)
class PersonLookups:
    """A finder of each document's lookup values, those of its person, with their columns' types."""

    known: KnownValues
    labels: Mapping[str, str]

    @classmethod
    def of(
        cls,
        tables: Sequence[UnreleasedColumns],
        mentions: Mapping[str, MentionEntry],
        first: Sequence[Document],
    ) -> PersonLookups | None:
        """Read the values of tables, or return None without values. Memory: one row per value.

        mentions : those of the plan: the values that a text may keep, and the type of a column's
            values.
        first : documents from which ordinary words are learnt.
        """
        kept = {one.column for one in mentions.values() if one.keep}
        types = {one.column: x for x, one in reversed([*mentions.items()]) if one.column}
        born = next(
            (x for x, one in mentions.items() if kind_of(x) == "date" and one.is_drop), BORN
        )
        rows: list[tuple[str, str, str, str]] = []
        labels: dict[str, str] = {}
        for table in tables:
            for name, quasi in table.columns.items():
                if quasi in kept:
                    continue
                own = _column_of(table, name, types.get(quasi, ""), born)
                if own is not None and (found := list(_rows(table, own))):
                    labels[own.name] = own.label
                    rows += found
        if not rows:
            return None
        known = KnownValues(_table(rows))
        known.propose(first)
        return cls(known, labels)

    def __call__(self, documents: Sequence[Document]) -> list[list[TextRemoval]]:
        """Find the values in each document, sorted and without overlaps."""
        return [
            [TextRemoval(x.start, x.end, self._label(x), x.by) for x in own]
            for own in self.known.propose_sure(documents)
        ]

    def _label(self, found: TextRemoval) -> str:
        """Return the type of a removal, or the finder's type if its columns have several types."""
        own = {self.labels[reason.name] for reason in found.by if reason.name in self.labels}
        own.discard("")
        return own.pop() if len(own) == 1 else found.label


def _column_of(table: UnreleasedColumns, name: str, label: str, born: str) -> _LookupColumn | None:
    """Return the kind of a column by its values and its header, or None without values.

    A column of unknown kind contains names if most values are a few capitalised, distinct words.
    Otherwise each value is searched as a whole.
    """
    first = next(islice(table.source.batches([name], batch_rows=LOOKED_AT), 1), None)
    cells = pa.array([]) if first is None else first.column(0)
    values = [text for cell in cells.to_pylist() for text in texts_of(cell)]
    if not values:
        return None
    called = f"{table.name}.{name}"
    kind = kind_of_column(name, cells)
    if kind is None and _are_names(values):
        return _LookupColumn(called, "name", label, False)
    if kind == "date" and (glossary()["birth"].found_in(name) or table.columns[name]):
        return _LookupColumn(called, kind, label or born, False)
    unknown = "" if kind else VALUE
    by_looks = kind == "name" and not mentions_words(name, "name", "staff")
    is_shared = kind in SHARED or (by_looks and not _mostly_differ(values))
    return _LookupColumn(called, kind or "id", label or unknown, is_shared)


def _are_names(values: Sequence[str]) -> bool:
    """Return whether most values are a few capitalised words, and most of them are distinct.

    >>> _are_names(["Lamar193", "Ana Torp"]), _are_names(["Ana", "Ana"]), _are_names(["ldl", "Na"])
    (True, False, False)
    """
    named = sum(len(x.split()) <= NAME_WORDS and x[:1].isalpha() and x[:1] == x[:1].upper()
                and not any(map(str.isdigit, x.split()[0][:SHORTEST])) for x in values)  # fmt: skip
    return named > DISTINCT * len(values) and _mostly_differ(values)


def _mostly_differ(values: Sequence[str]) -> bool:
    return len({*values}) > DISTINCT * len(values)


def _rows(table: UnreleasedColumns, column: _LookupColumn) -> Iterator[tuple[str, str, str, str]]:
    """Yield subject, column, kind and value, each once per person.

    Shared values are included only if few people have them.
    """
    name = column.name.removeprefix(f"{table.name}.")
    wanted = list(dict.fromkeys([table.subject, name]))
    holders: dict[str, dict[str, None]] = defaultdict(dict)
    people: set[str] = set()
    for batch in table.source.batches(wanted, batch_rows=BATCH_ROWS):
        whose = batch.column(batch.schema.get_field_index(table.subject)).to_pylist()
        cells = batch.column(batch.schema.get_field_index(name)).to_pylist()
        for who, cell in zip(map(subject_of, whose), cells, strict=True):
            if who is None:
                continue
            people.add(who)
            for value in _list_forms(column.kind, cell):
                holders[value][who] = None
    limits = SearchLimits()
    most = max(limits.holders, int(limits.holders_share * len(people)))
    for value, own in holders.items():
        if not column.is_shared or len(own) <= most:
            yield from ((who, column.name, column.kind, value) for who in own)


def _list_forms(kind: Kind, cell: object) -> Iterable[str]:
    """Yield the forms of a cell to search for. Names with trailing digits also count without them.

    >>> list(_list_forms("name", "Lamar193 Torp")), list(_list_forms("id", "Na"))
    (['Lamar193 Torp', 'Lamar Torp'], [])
    """
    for text in texts_of(cell):
        if kind == "date":
            yield from sorted(map(str, read_days(text)))
        elif sum(map(str.isalnum, text)) >= SHORTEST:
            yield text
            if kind == "name" and (bare := _DIGITS_BEHIND.sub("", text)) != text:
                yield bare


def _table(rows: Sequence[tuple[str, str, str, str]]) -> pa.Table:
    """Return rows as known values. All values of one person form one name."""
    subjects, columns, kinds, values = (list(own) for own in zip(*rows, strict=True))
    numbers = {who: number for number, who in enumerate(dict.fromkeys(subjects))}
    own = [subjects, [numbers[who] for who in subjects], columns, kinds, values]
    return pa.table(dict(zip(SCHEMA.names, own, strict=True)), schema=SCHEMA)
