"""What each part of a release shows, as facts that an informed adversary may know of a person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from voile.data import Source
from voile.data.roles import AS_IT_IS
from voile.release.manifest import Release, source_rows
from voile.study.adversary.days import day_columns
from voile.study.adversary.informed import Days, Facts, Group, as_facts
from voile.study.adversary.people import KNOWN_ROLES, Fact, released_rows
from voile.study.adversary.people import Days as DayPairs


def groups_of(
    table: Release, source: Source, subject: str, said: Sequence[str]
) -> dict[str, dict[Group, float]]:
    """Return the groups of each person's released rows, and the share of the rows in each.

    A group is what the rows show of the quasi-identifiers, and the true value of each column that
    texts say.
    """
    numbers = source_rows(table.folder)
    true = source.read([subject, *said]).take(numbers)
    quasi = {one["column"] for one in table.public["columns"] if one["role"] == "quasi"}
    shown = table.rows().read([one for one in table.rows().schema().names if one in quasi])
    rows: dict[str, Counter[Group]] = defaultdict(Counter)
    for own, row in zip(true.to_pylist(), shown.to_pylist(), strict=True):
        rows[str(own[subject])][tuple(row.values()), tuple(own[one] for one in said)] += 1
    return {
        person: {group: n / own.total() for group, n in own.items()} for person, own in rows.items()
    }


def facts_in(part: Release, source: Source, subject: str, people: Iterable[str]) -> Facts:
    """Return the facts of a part: each item of a row, its other labels, and how many.

    The number of rows of each of some people is a fact as well, 0 too.
    """
    items = _columns(part, frozenset({"items"}))
    others = _columns(part, KNOWN_ROLES - {"items"})
    found: dict[str, Counter[Fact]] = defaultdict(Counter)
    rows = Counter[str]()
    for person, row, _ in released_rows(part, source, subject, [*items, *others], []):
        rows[person] += 1
        found[person].update(_items(items, row))
        if others:
            found[person][tuple(row[name] for name in others)] += 1
    numbers = {person: frozenset({("number of rows", rows[person])}) for person in people}
    return as_facts(found) | Facts(numbers, numbers)


def _columns(part: Release, roles: frozenset[str]) -> list[str]:
    """Return the released columns of some roles, but those of days."""
    own = {one["column"]: one["role"] for one in part.public["columns"]}
    rows = part.rows()
    names = [one for one in rows.columns if own.get(one, "") in roles]
    days = day_columns(rows, [one for one in names if own[one] in AS_IT_IS])
    return [one for one in names if one not in days]


def _items(columns: Sequence[str], row: Mapping[str, Any]) -> Iterator[Fact]:
    for name in columns:
        if isinstance(row[name], list):
            yield from ((name, one) for one in row[name])
        elif row[name]:
            yield name, row[name]


def days_of(parts: Iterable[Mapping[str, DayPairs]], *, months: bool) -> dict[str, Days]:
    """Return the released days of each person in all parts; numbers of months, where days are."""
    found: dict[str, set[int]] = defaultdict(set)
    for dates in parts:
        for person, both in dates.items():
            days = both[:, 1]
            found[person].update(_months(days) if months else days.tolist())
    return {person: tuple(sorted(own)) for person, own in found.items()}


def _months(days: np.ndarray[Any, np.dtype[np.int64]]) -> list[int]:
    return list(days.astype("datetime64[D]").astype("datetime64[M]").astype(int).tolist())
