"""Read a person's released facts in every part, which an acquaintance may know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.data import Source, open_source
from voile.data.roles import AS_IT_IS
from voile.gate.people import ReleasedPart
from voile.release.manifest import StoredRelease, source_rows
from voile.study.adversary.days import as_days, day_columns

KNOWN_ROLES = frozenset({"quasi", "items", "known", "keep"})
"""Roles of columns with released values that an acquaintance may know."""
LINKED_ROLES = frozenset({"quasi", "items"})
"""The known roles that link people to other people. The other known roles only link rows."""
Fact = tuple[Any, ...]
Days = NDArray[np.int64]
DATES = pa.schema([("person", pa.string()), ("true", pa.int32()), ("released", pa.int32())])


def number_facts(part: StoredRelease, source: Source, subject: str) -> dict[str, tuple[int, ...]]:
    """Return the multiset of linked facts that a part shows of each person, as sorted numbers.

    Memory: one number per fact of a person.
    """
    roles = {one["column"]: one["role"] for one in part.public["columns"]}
    released = open_source(part.path)
    linked = [n for n in released.columns if roles.get(n) in LINKED_ROLES and n != subject]
    people = _people_of(part, source, subject)
    if not linked:
        return dict.fromkeys(people.unique().to_pylist(), ())
    found: dict[str, list[int]] = {one: [] for one in people.unique().to_pylist()}
    number: dict[Fact, int] = defaultdict(lambda: len(number))
    first = 0
    for batch in released.batches(linked):
        own = people.slice(first, len(batch)).to_pylist()
        for person, row in zip(own, batch.to_pylist(), strict=True):
            found[person] += (number[one] for one in _facts(linked, row))
        first += len(batch)
    return {person: tuple(sorted(own)) for person, own in found.items()}


def read_dates(part: StoredRelease, source: Source, subject: str) -> pa.Table:
    """Return the dates of a part's released rows: person, true and released day since 1970."""
    roles = {one["column"]: one["role"] for one in part.public["columns"]}
    released = open_source(part.path)
    kept = [n for n in released.columns if roles.get(n) in AS_IT_IS and n in source.columns]
    dates = day_columns(released, kept)
    people, numbers = _people_of(part, source, subject), source_rows(part.folder)
    return (
        pa.concat_tables(
            pa.table(
                [
                    people,
                    *(_as_numbers(one) for one in (true.take(numbers), released.read([name]))),
                ],
                schema=DATES,
            ).drop_null()
            for name in dates
            for true in [source.read([name])]
        )
        if dates
        else DATES.empty_table()
    )


def open_part(
    part: StoredRelease, source: Source, subject: str, *, is_joined: bool
) -> ReleasedPart:
    """Open the written rows of a part for a count of people.

    `is_joined` is whether rows have a pseudonym. Without pseudonyms, the true person joins the
    rows. The result is then an upper bound, since an adversary must first find the person's rows.
    """
    roles = {one["column"]: one["role"] for one in part.public["columns"]}
    rows = part.rows()
    kept = [n for n in rows.columns if roles.get(n) in AS_IT_IS and n in source.columns]
    dates = day_columns(rows, kept)
    known = [
        n for n in rows.columns if roles.get(n) in KNOWN_ROLES and n != subject and n not in dates
    ]
    person = subject
    if is_joined and subject not in rows.columns:  # signals have their own pseudonym column
        person = next(n for n in rows.columns if roles.get(n) == "identifier")
    if not is_joined:
        people = source.read([subject]).column(0).combine_chunks().take(source_rows(part.folder))
        rows = open_source(rows.read([*known, *dates]).append_column(subject, people))
    return ReleasedPart(rows=rows, person=person, facts=tuple(known), dates=tuple(dates))


def open_group(
    table: StoredRelease, source: Source, subject: str, said: Sequence[str], *, is_joined: bool
) -> ReleasedPart:
    """Open the quasi-identifiers of the table's written rows, and true values that texts reveal.

    said : the columns with true values in texts.
    """
    part = open_part(table, source, subject, is_joined=is_joined)
    quasi = {one["column"] for one in table.public["columns"] if one["role"] == "quasi"}
    names = [name for name in part.facts if name in quasi]
    if not said:
        return replace(part, facts=tuple(names), dates=())
    rows, true = part.rows.read([part.person, *names]), source.read([*said])
    for name, column in zip(said, true.take(source_rows(table.folder)).columns, strict=True):
        rows = rows.append_column(f"true {name}", column)
    facts = (*names, *(f"true {name}" for name in said))
    return ReleasedPart(rows=open_source(rows), person=part.person, facts=facts)


def open_days(dates: Mapping[str, Days], name_of: Callable[[str], str]) -> ReleasedPart:
    """Open the released days of people, one per row.

    `name_of` returns the name of a person in the parts.
    """
    names = pa.array(map(name_of, dates), pa.string())
    rows = np.repeat(np.arange(len(dates)), [len(own) for own in dates.values()])
    days = np.concatenate([own[:, 1] for own in dates.values()]).astype(np.int32)
    table = pa.table(
        {"person": names.take(pa.array(rows)), "day": pa.array(days).cast(pa.date32())}
    )
    return ReleasedPart(rows=open_source(table), person="person", dates=("day",))


def number_people(parts: Iterable[Mapping[str, tuple[int, ...]]]) -> Mapping[str, int]:
    """Number the combined facts of each person in all parts, from 0.

    People without facts also get a number. Memory: a number for each person, and the facts of one
    part.
    """
    found: dict[str, int] = defaultdict(int)
    for facts in parts:
        numbers: dict[tuple[int, tuple[int, ...] | None], int] = {(0, None): 0}
        for person in sorted(found.keys() | facts.keys()):
            shown = found[person], facts.get(person)
            found[person] = numbers.setdefault(shown, len(numbers))
    return found


def join_dates(parts: Iterable[pa.Table]) -> dict[str, Days]:
    """Return the distinct dates of each person in all parts, sorted: (dates, 2).

    The columns are true and released days. Memory: 16 bytes for a date, and the dates of one part.
    """
    names, found = pa.array([], pa.string()), [np.zeros((3, 0), np.int32)]
    for part in parts:
        own = part.column("person").combine_chunks().dictionary_encode()
        known = pc.index_in(own.dictionary, names)
        new = own.dictionary.filter(pc.is_null(known))
        names = pa.concat_arrays([names, new])
        numbers = pc.index_in(own.dictionary, names).take(own.indices)
        cells = [part.column(name).to_numpy() for name in ("true", "released")]
        found.append(np.array([numbers.to_numpy(), *cells], np.int32))
    rows = np.concatenate(found, axis=1)
    del found
    rows = rows[:, np.lexsort(rows[::-1])]
    rows = rows[:, np.append(True, (rows[:, 1:] != rows[:, :-1]).any(axis=0))[: rows.shape[1]]]
    ends = np.searchsorted(rows[0], np.arange(1, len(names)))
    days = rows[1:].T.astype(np.int64)
    return dict(zip(names.to_pylist(), np.split(days, ends), strict=False))


def _facts(known: list[str], row: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the facts of a row: its values together, and each item of a list separately."""
    lists = [name for name in known if isinstance(row[name], list)]
    if plain := tuple(row[name] for name in known if name not in lists):
        yield plain
    for name in lists:
        yield from ((name, one) for one in row[name])


def _people_of(part: StoredRelease, source: Source, subject: str) -> pa.ChunkedArray:
    """Return the person of each released row."""
    return source.read([subject]).column(0).cast(pa.string()).take(source_rows(part.folder))


def _as_numbers(days: pa.Table) -> pa.ChunkedArray:
    """Return dates as numbers of days, or null for text that is not a date."""
    return as_days(days.column(0)).cast(pa.int32())
