"""What a release shows of each person, in every part: facts that an acquaintance may know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.data import Source, open_source
from voile.release.manifest import ROW, ROWS, Release

KNOWN_ROLES = frozenset({"quasi", "items", "known", "keep"})
"""Roles of columns whose released values an acquaintance may know."""
LINKED_ROLES = frozenset({"quasi", "items"})
"""Of these, the ones by which an adversary links people to others; the rest only link rows."""
Fact = tuple[Any, ...]
Days = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PartFacts(Brief):
    """Of one part: the facts and the dates of each person, and how many rows each has.

    dates : of each person, true and released days, (dates, 2), counted from 1970.
    """

    facts: Mapping[str, frozenset[Fact]] = field(repr=False)
    dates: Mapping[str, Days] = field(repr=False)
    rows: Mapping[str, int] = field(repr=False)


def facts_of(
    part: Release, source: Source, subject: str, known_roles: frozenset[str] = KNOWN_ROLES
) -> PartFacts:
    """Read a released part beside its source. Memory: the facts of people, not their texts."""
    roles = {one["column"]: one["role"] for one in part.public["columns"]}
    schema = open_source(part.path).schema()
    dates = [n for n in schema.names if is_day(schema.field(n).type) and n in source.columns]
    known = [
        n for n in schema.names if roles.get(n) in known_roles and n != subject and n not in dates
    ]
    facts: dict[str, set[Fact]] = defaultdict(set)
    days: dict[str, list[tuple[int, int]]] = defaultdict(list)
    rows: dict[str, int] = defaultdict(int)
    for person, row, true in released_rows(part, source, subject, known, dates):
        rows[person] += 1
        facts[person].update(_facts(known, row))
        days[person] += [(true[n], row[n]) for n in dates if None not in (true[n], row[n])]
    return PartFacts(
        {one: frozenset(found) for one, found in facts.items()},
        {one: np.array(sorted({*found}), np.int64).reshape(-1, 2) for one, found in days.items()},
        dict(rows),
    )


def numbered(parts: Sequence[Mapping[str, frozenset[Fact]]]) -> Mapping[str, int]:
    """Number what parts show of each person together, from 0; of whom they show nothing, too."""
    numbers: dict[tuple[frozenset[Fact] | None, ...], int] = {}
    found: dict[str, int] = defaultdict(lambda: len(numbers))
    for person in sorted({person for facts in parts for person in facts}):
        shown = tuple(facts.get(person) for facts in parts)
        found[person] = numbers.setdefault(shown, len(numbers))
    return found


def dates_of(parts: Iterable[PartFacts]) -> dict[str, Days]:
    """Return the dates of each person in all parts."""
    found: dict[str, list[Days]] = defaultdict(list)
    for part in parts:
        for person, own in part.dates.items():
            found[person].append(own)
    return {person: np.unique(np.concatenate(own), axis=0) for person, own in found.items()}


def is_day(kind: pa.DataType) -> bool:
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


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
    numbers = open_source(part.folder / ROWS).read([ROW]).column(0).combine_chunks()
    truth = _as_days(source.read([subject, *dates]), dates)
    first = 0
    for batch in open_source(part.path).batches([*known, *dates]):
        own = truth.take(numbers.slice(first, len(batch))).to_pylist()
        shown = _as_days(pa.Table.from_batches([batch]), dates).to_pylist()
        for row, true in zip(shown, own, strict=True):
            yield str(true[subject]), row, true
        first += len(batch)


def _as_days(table: pa.Table, dates: list[str]) -> pa.Table:
    """Return dates as numbers of days; text that is no date is null."""
    for name in dates:
        at = table.schema.get_field_index(name)
        column = table.column(name)
        if is_day(column.type):
            column = column.cast(pa.date32(), safe=False)
        else:
            column = pa.chunked_array([_parsed(column)], pa.date32())
        table = table.set_column(at, name, column.cast(pa.int32()))
    return table


def _parsed(column: pa.ChunkedArray) -> pa.Array:
    days = np.array([_day(x) for x in column.to_pylist()], "datetime64[D]")
    return pa.array(days, pa.date32())


def _day(text: Any) -> np.datetime64:
    try:
        return np.datetime64(str(text)[:10], "D")
    except ValueError:
        return np.datetime64("NaT")
