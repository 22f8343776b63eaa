"""What a release shows of each person, in every part: facts that an acquaintance may know."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.data import Source, open_source
from voile.data.roles import AS_IT_IS
from voile.gate.people import ReleasedPart
from voile.release.manifest import Release, source_rows
from voile.study.adversary.days import as_days, day_columns

KNOWN_ROLES = frozenset({"quasi", "items", "known", "keep"})
"""Roles of columns whose released values an acquaintance may know."""
LINKED_ROLES = frozenset({"quasi", "items"})
"""Of these, the ones by which an adversary links people to others; the rest only link rows."""
Fact = tuple[Any, ...]
Days = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PartFacts(Brief):
    """Of one part: the facts of each person, each with the number of rows; and the dates.

    dates : of each person, true and released days, (dates, 2), counted from 1970.
    """

    facts: Mapping[str, frozenset[Fact]] = field(repr=False)
    dates: Mapping[str, Days] = field(repr=False)


def facts_of(
    part: Release, source: Source, subject: str, known_roles: frozenset[str] = KNOWN_ROLES
) -> PartFacts:
    """Read a released part beside its source. Memory: the facts of people, not their texts."""
    roles = {one["column"]: one["role"] for one in part.public["columns"]}
    released = open_source(part.path)
    kept = [n for n in released.columns if roles.get(n) in AS_IT_IS and n in source.columns]
    dates = day_columns(released, kept)
    known = [
        n
        for n in released.columns
        if roles.get(n) in known_roles and n != subject and n not in dates
    ]
    facts: dict[str, Counter[Fact]] = defaultdict(Counter)
    days: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for person, row, true in released_rows(part, source, subject, known, dates):
        facts[person].update(_facts(known, row))
        days[person] += [(true[n], row[n]) for n in dates if None not in (true[n], row[n])]
    return PartFacts(
        {one: frozenset(found.items()) for one, found in facts.items()},
        {one: np.array(sorted({*found}), np.int64).reshape(-1, 2) for one, found in days.items()},
    )


def open_part(part: Release, source: Source, subject: str, *, is_joined: bool) -> ReleasedPart:
    """Open the written rows of a part for a count of people.

    is_joined : whether rows have a pseudonym. Without one the true person joins them: an upper
    bound, since the adversary has to find the person's rows first.
    """
    roles = {one["column"]: one["role"] for one in part.public["columns"]}
    rows = part.rows()
    kept = [n for n in rows.columns if roles.get(n) in AS_IT_IS and n in source.columns]
    dates = day_columns(rows, kept)
    known = [
        n for n in rows.columns if roles.get(n) in KNOWN_ROLES and n != subject and n not in dates
    ]
    person = subject
    if is_joined and subject not in rows.columns:  # readings have a name of their own for it
        person = next(n for n in rows.columns if roles.get(n) == "identifier")
    if not is_joined:
        people = source.read([subject]).column(0).combine_chunks().take(source_rows(part.folder))
        rows = open_source(rows.read([*known, *dates]).append_column(subject, people))
    return ReleasedPart(rows=rows, person=person, facts=tuple(known), dates=tuple(dates))


def open_unlinked(part: Release, source: Source, subject: str) -> ReleasedPart:
    """Open the written rows of a part without pseudonyms, each as a record of its own."""
    own = open_part(part, source, subject, is_joined=False)
    rows = own.rows.read([*own.facts, *own.dates])
    rows = rows.append_column(subject, pa.array(range(len(rows))).cast(pa.string()))
    return replace(own, rows=open_source(rows))


def open_group(
    table: Release, source: Source, subject: str, said: Sequence[str], *, is_joined: bool
) -> ReleasedPart:
    """Open the quasi-identifiers of the table's written rows, with true values that texts say.

    said : columns of which the texts say the true value.
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
    """Open the released days of people, a row each. name_of : how the parts name a person."""
    rows = [(name_of(one), int(day)) for one, own in dates.items() for day in own[:, 1]]
    people, days = zip(*rows, strict=True) if rows else ((), ())
    table = {"person": pa.array(people, pa.string()),
             "day": pa.array(days, pa.int32()).cast(pa.date32())}  # fmt: skip
    return ReleasedPart(rows=open_source(pa.table(table)), person="person", dates=("day",))


def numbered(parts: Sequence[Mapping[str, frozenset[Fact]]]) -> Mapping[str, int]:
    """Number what parts show of each person together, from 0; of whom they show nothing, too."""
    numbers: dict[tuple[frozenset[Fact] | None, ...], int] = {}
    found: dict[str, int] = defaultdict(lambda: len(numbers))
    for person in sorted({person for facts in parts for person in facts}):
        shown = tuple(facts.get(person) for facts in parts)
        found[person] = numbers.setdefault(shown, len(numbers))
    return found


def join_dates(parts: Iterable[Mapping[str, Days]]) -> dict[str, Days]:
    """Return the dates of each person in all parts."""
    found: dict[str, list[Days]] = defaultdict(list)
    for dates in parts:
        for person, own in dates.items():
            found[person].append(own)
    return {person: np.unique(np.concatenate(own), axis=0) for person, own in found.items()}


def _facts(known: list[str], row: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield what a row shows: its values together, and each item of a list by itself."""
    lists = [name for name in known if isinstance(row[name], list)]
    if plain := tuple(row[name] for name in known if name not in lists):
        yield plain
    for name in lists:
        yield from ((name, one) for one in row[name])


def released_rows(
    part: Release, source: Source, subject: str, known: list[str], dates: list[str]
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield of each released row its person, its values, and the true days of its source's row."""
    numbers = source_rows(part.folder)
    truth = _numbered(source.read([subject, *dates]), dates)
    first = 0
    for batch in open_source(part.path).batches([*known, *dates]):
        own = truth.take(numbers.slice(first, len(batch))).to_pylist()
        shown = _numbered(pa.Table.from_batches([batch]), dates).to_pylist()
        for row, true in zip(shown, own, strict=True):
            yield str(true[subject]), row, true
        first += len(batch)


def _numbered(table: pa.Table, dates: list[str]) -> pa.Table:
    """Return dates as numbers of days; text that is not a date is null."""
    for name in dates:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, as_days(table.column(name)).cast(pa.int32()))
    return table
