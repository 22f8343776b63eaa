"""The attack on parts without pseudonyms: link rows of two parts by their common values.

The adversary takes a row of the table and candidate rows of another part. Candidates must have the
same values in every column that both parts release. They must also share a date with the row, in a
column or in a text. Success: a candidate drawn at random belongs to the same person.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from voile.core.brief import BriefRepr
from voile.data import Source, open_source
from voile.data.roles import AS_IT_IS
from voile.documents.replacements.dates import read_date
from voile.release.manifest import StoredRelease, source_rows
from voile.study.adversary.days import day_columns
from voile.study.adversary.people import KNOWN_ROLES

_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4}|[A-Z][a-z]+ \d{1,2}, \d{4}")
Row = tuple[str, Mapping[str, Any]]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class RejoinedRows(BriefRepr):
    """The result for one part: the number of the table's rows that are linked correctly.

    by : the columns that both parts release, and whether dates are compared.
    rows : number of rows of the table.
    matches : expected number of correct links.
    certain : number of rows with candidates of a single person, the right one.
    """

    part: str
    by: tuple[str, ...]
    rows: int
    matches: float
    certain: int


def rejoin(
    table: tuple[StoredRelease, Source],
    others: Mapping[str, tuple[StoredRelease, Source]],
    subject: str,
) -> tuple[RejoinedRows, ...]:
    """Link each row of the table to the rows of each other part with the same values."""
    return tuple(_rejoin(table, name, other, subject) for name, other in others.items())


def _rejoin(
    table: tuple[StoredRelease, Source],
    name: str,
    other: tuple[StoredRelease, Source],
    subject: str,
) -> RejoinedRows:
    shared = sorted(_columns(table[0]) & _columns(other[0]) - {subject})
    dated = _dates(table[0]) and (_dates(other[0]) or _texts(other[0]))
    by = (*shared, *(["dates"] if dated else []))
    index: dict[Key, list[tuple[int, str]]] = defaultdict(list)
    for number, (person, row) in enumerate(_rows(*other, subject)) if by else ():
        for key in _keys(row, shared, dated=bool(dated)):
            index[key].append((number, person))
    rows, matches, certain = 0, 0.0, 0
    for person, row in _rows(*table, subject):
        rows += 1
        found = {x for key in _keys(row, shared, dated=bool(dated)) for x in index.get(key, ())}
        right = sum(whose == person for _, whose in found)
        matches += right / len(found) if found else 0.0
        certain += 0 < right == len(found)
    return RejoinedRows(name, by, rows, matches, certain)


def _columns(part: StoredRelease) -> set[str]:
    """Return the columns of a part that another part may also contain, without dates."""
    schema = {x["column"]: x["role"] for x in part.public["columns"]}
    return {n for n, role in schema.items() if role in KNOWN_ROLES or role == "sensitive"} - {
        *_dates(part)
    }


def _dates(part: StoredRelease) -> list[str]:
    names = [one["column"] for one in part.public["columns"] if one["role"] in AS_IT_IS]
    return day_columns(open_source(part.path), names)


def _texts(part: StoredRelease) -> list[str]:
    return [x["column"] for x in part.public["columns"] if x["role"] == "text"]


def _rows(part: StoredRelease, source: Source, subject: str) -> Iterator[Row]:
    """Yield the person and the values of each released row."""
    people = source.read([subject]).column(0).combine_chunks()
    numbers = source_rows(part.folder)
    first = 0
    for batch in open_source(part.path).batches():
        whose = people.take(numbers.slice(first, len(batch))).to_pylist()
        yield from zip(map(str, whose), batch.to_pylist(), strict=True)
        first += len(batch)


def _keys(row: Mapping[str, Any], shared: Sequence[str], *, dated: bool) -> Iterator[Key]:
    same = tuple(str(row[name]) for name in shared)
    if not dated:
        yield same
        return
    for cell in row.values():
        if isinstance(cell, date):
            yield (*same, cell.isoformat()[:10])
        elif isinstance(cell, str):
            read = (read_date(one, None, "english") for one in _DATE.findall(cell))
            yield from ((*same, "-".join(f"{n:02}" for n in one.when)) for one in read if one)
