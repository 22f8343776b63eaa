"""Measure k-anonymity by containment in a release of sparse 0/1 rows, from its written bytes.

DuckDB groups equal rows. It joins each row that too few people have with the rows that contain the
rarest item of that row. It also counts people by records, if other columns join their rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from voile.core.errors import TamperedError
from voile.data import Source
from voile.engines.duck import connect
from voile.gate.finding import NOBODY, GateFinding, StatedAdversary
from voile.gate.people_of_rows import ORDER, PERSON, RowsWithPeople, is_in_order
from voile.gate.records import (
    PERSONS,
    SMALL_GROUP,
    RecordClasses,
    count_records,
    draw_codes,
    measure_records,
    name_joiner,
)

if TYPE_CHECKING:
    import duckdb

RANGES = "ranges"
"""The kind of a column of numbers or dates that the release contains as intervals."""
ITEMS = "all items"
"""The part of each joined row that the adversary knows."""
WHOLE_ROW = StatedAdversary("knows all items of a row, and all items that it lacks")
INTERVALS = StatedAdversary("knows the intervals of all numbers and dates of a row")


def measure_itemsets(
    release: Source,
    people: Source | None,
    policy: Sequence[Mapping[str, Any]],
    *,
    k: int = 1,
    m: int | None = None,
    absences: bool = False,
    directory: Path | None = None,
) -> tuple[GateFinding, ...]:
    """Return the findings of a release, and reject cells that its policy does not publish.

    Parameters
    ----------
    release : the written rows, one for each record.
    people : a column `person` of tokens in the release's order. None means that each row is a
        person. An optional column `row` contains the row number in the source.
    policy : the columns of the public manifest, with the values of each column.
    k : the promised number of people. Other columns or a kept order may join the rows of a person.
        In that case the findings also count the people whose joined rows fewer than k people share.
    m : the number of items of a row that the adversary knows, at least 1. None means all items.
    absences : whether the adversary also knows which items a row lacks.

    Returns
    -------
    tuple of GateFinding : ``anonymity`` is the smallest number of people who share everything that
        this adversary may know.

    Raises
    ------
    TamperedError : a cell contains a value that is not in the policy, or `people` and the release
        have different numbers of rows.
    """
    with connect(directory=directory) as connection:
        others = _name_others(release, people, policy)
        rows = _load(connection, release, people, policy, others)
        found = _count_patterns(connection)
        subjects = found["subjects"]
        findings = [
            NOBODY.finds("rows", rows, "rows"),
            NOBODY.finds("subjects", subjects, "people"),
            NOBODY.finds("empty_rows", found["empty_rows"], "rows", n=rows),
            WHOLE_ROW.finds("exact_anonymity", found["exact_anonymity"], "people"),
            WHOLE_ROW.finds("unique_rows", found["unique_rows"], "rows", n=rows),
        ]
        if rows:
            findings.append(
                WHOLE_ROW.finds("unique_share", found["unique_rows"] / rows, "share", n=rows)
            )
            features = sum(len(column["values"]) for column in policy)
            least = _least(connection, m, absences, found, features)
            knower = StatedAdversary(_knowledge(m, absences))
            findings.append(knower.finds("anonymity", least, "people"))
            if intervals := _intervals(policy):
                least = _least_by(connection, intervals)
                findings.append(INTERVALS.finds("interval_anonymity", least, "people"))
            if others and (records := _count_records(connection, others)) is not None:
                findings += measure_records(records, k, ITEMS)
                findings.append(_bound_unique(records))
    return tuple(findings)


def _name_others(
    release: Source, people: Source | None, policy: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Map each column that may join the rows of a person to its name in the table `held`."""
    items = {column["column"] for column in policy}
    if people is None:
        return {}
    names = [name for name in release.columns if name not in items]
    names += [ORDER] * is_in_order(people)
    return {name: f"v{place}" for place, name in enumerate(names)}


def _count_records(
    connection: duckdb.DuckDBPyConnection, others: Mapping[str, str]
) -> RecordClasses | None:
    """Count people by the records that columns or a kept order join, and drop the table `held`."""
    values = "".join(f", {value}" for value in others.values())
    connection.execute(
        f"CREATE TABLE rows AS SELECT id AS g, person{values} FROM held JOIN patterns USING (items)"
        "; DROP TABLE held; CREATE TABLE groups AS "
        f"SELECT g, {draw_codes()} FROM (SELECT id AS g FROM patterns); "
        "CREATE TABLE pairs AS SELECT g, person, count(*) AS times FROM rows GROUP BY g, person; "
        f"{PERSONS}"
    )
    return count_records(others, connection)


def _bound_unique(records: RecordClasses) -> GateFinding:
    """Return an upper bound on the share of people with unique records.

    The bound hides counts of 1 to 10.
    """
    unique, few = records.count_people(2), SMALL_GROUP - 1
    least = few + 1 if 0 < unique <= few else unique
    most = min(least / records.subjects, 1.0)
    return name_joiner(records.columns, ITEMS).finds(
        "most_unique_all_rows", most, "share", n=records.subjects
    )


def _knowledge(m: int | None, absences: bool) -> str:
    """Write the adversary's knowledge that a constraint allows.

    >>> _knowledge(2, False)
    'knows at most 2 items of a row'
    """
    items = "any items" if m is None else "at most 1 item" if m == 1 else f"at most {m} items"
    return f"knows {items} of a row{', present or absent' if absences else ''}"


def _load(
    connection: duckdb.DuckDBPyConnection,
    release: Source,
    people: Source | None,
    policy: Sequence[Mapping[str, Any]],
    others: Mapping[str, str],
) -> int:
    """Create the table `held` of each row's sorted items, person and others; return its length."""
    names = "".join(f", {value} VARCHAR" for value in others.values())
    connection.execute(f"CREATE TABLE held (row BIGINT, items INTEGER[], person BIGINT{names})")
    numbers: dict[str, dict[str, int]] = {}
    for column in policy:
        start = sum(map(len, numbers.values()))
        numbers[column["column"]] = {v: start + x for x, v in enumerate(column["values"])}
    source = release if people is None else RowsWithPeople(release, people)
    read = [*numbers, *others, *([] if people is None else [PERSON])]
    first = 0
    for batch in source.batches(read or None):
        row = np.arange(first, first + len(batch))
        lists = pa.array(_lists(batch, policy, numbers), pa.list_(pa.int32()))
        person = row if people is None else batch.column(PERSON)
        table = {"row": row, "items": lists, "person": person}
        table |= {value: batch.column(name) for name, value in others.items()}
        connection.register("batch", pa.table(table))
        values = "".join(f", {value}::VARCHAR" for value in others.values())
        connection.execute(
            f"INSERT INTO held SELECT row, list_sort(items), person{values} FROM batch"
        )
        first += len(batch)
    return first


def _intervals(policy: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the numbers of the items that represent intervals of numbers or dates."""
    kinds = [column["kind"] for column in policy for _ in column["values"]]
    return [number for number, kind in enumerate(kinds) if kind == RANGES]


def _least_by(connection: duckdb.DuckDBPyConnection, items: list[int]) -> float:
    """Return the smallest number of people who share the same subset of the given items."""
    found = _one(
        connection,
        f"""
        SELECT min(people) FROM (
            SELECT list_sort(list_intersect(items, {items})) AS seen,
                   count(DISTINCT person) AS people
            FROM held GROUP BY seen
        )""",
    )
    assert found is not None
    return found


def _lists(
    batch: pa.RecordBatch,
    policy: Sequence[Mapping[str, Any]],
    numbers: Mapping[str, Mapping[str, int]],
) -> list[list[int]]:
    """Return the item numbers of each row, and reject a value that is not in the policy."""
    lists: list[list[int]] = [[] for _ in range(len(batch))]
    for column in policy:
        name, known = column["column"], numbers[column["column"]]
        for items, cell in zip(lists, batch.column(name).to_pylist(), strict=True):
            for value in _values(cell, column["kind"]):
                if value not in known:
                    raise TamperedError("a cell has a value that is not in the policy", where=name)
                items.append(known[value])
    return lists


def _values(cell: Any, kind: str) -> Iterator[str]:
    if kind == "binary":
        if str(cell) not in ("0", "1"):
            yield "neither 0 nor 1"
        elif str(cell) == "1":
            yield ""
    elif kind == "words":
        yield from (cell or "").split()
    elif kind in ("items", "long"):
        yield from map(str, cell or [])
    elif cell is not None:
        yield cell


def _count_patterns(connection: duckdb.DuckDBPyConnection) -> dict[str, float]:
    """Group equal rows, and count rows, unique rows, empty rows and people."""
    connection.execute("""
        CREATE TABLE patterns AS
        SELECT row_number() OVER () AS id, items, count(*) AS n, count(DISTINCT person) AS people
        FROM held GROUP BY items""")
    connection.execute("""
        CREATE TABLE having_ AS
        SELECT DISTINCT id, person FROM held JOIN patterns USING (items)""")
    row = connection.execute("""
        SELECT coalesce(min(people), 0), coalesce(sum(n) FILTER (people = 1), 0),
               coalesce(sum(n) FILTER (len(items) = 0), 0),
               (SELECT count(DISTINCT person) FROM held)
        FROM patterns""").fetchone()
    assert row is not None
    least, unique, empty, subjects = map(float, row)
    return {
        "exact_anonymity": least,
        "unique_rows": unique,
        "empty_rows": empty,
        "subjects": subjects,
    }


def _least(
    connection: duckdb.DuckDBPyConnection,
    m: int | None,
    absences: bool,
    figures: Mapping[str, float],
    features: int,
) -> float:
    """Return the smallest number of people who share everything that this adversary may know."""
    if m is not None:
        found = _parts(connection, m, features if absences else 0)
    elif absences:
        found = figures["exact_anonymity"]
    else:
        found = _count_containing(connection)
    return figures["subjects"] if found is None else float(found)


def _count_containing(connection: duckdb.DuckDBPyConnection) -> float | None:
    """Return the smallest number of people with rows that contain some row.

    None means that all rows are empty. The number is at most the number of people with the rarest
    item. The query therefore compares only the rows of fewer people.
    """
    connection.execute("""
        CREATE TABLE cells AS SELECT id, unnest(items) AS item FROM patterns""")
    connection.execute("""
        CREATE TABLE supports AS
        SELECT item, count(DISTINCT person) AS n
        FROM cells JOIN having_ USING (id) GROUP BY item""")
    return _one(
        connection,
        """
        WITH few AS (
            SELECT id, arg_min(item, supports.n) AS item
            FROM cells JOIN supports USING (item) JOIN patterns USING (id)
            WHERE people < (SELECT min(n) FROM supports) GROUP BY id
        ), containing AS (
            SELECT few.id, count(DISTINCT having_.person) AS n
            FROM few JOIN patterns AS known ON known.id = few.id
            JOIN cells ON cells.item = few.item
            JOIN patterns AS other ON other.id = cells.id
            JOIN having_ ON having_.id = other.id
            WHERE list_has_all(other.items, known.items)
            GROUP BY few.id
        )
        SELECT min(n) FROM (SELECT n FROM containing UNION ALL SELECT n FROM supports)""",
    )


def _parts(connection: duckdb.DuckDBPyConnection, m: int, signed: int) -> float | None:
    """Return the smallest number of people who share at most m items of some row.

    If `signed` > 0, the adversary also knows which of `signed` features a row lacks. A missing item
    x has the code -1 - x.
    """
    lacks = f"""
        UNION ALL SELECT id, -1 - x FROM patterns, range({signed}) AS every(x)
        WHERE NOT list_contains(items, x)"""
    connection.execute(f"""
        CREATE TABLE known AS
        SELECT id, unnest(items)::BIGINT AS item FROM patterns {lacks if signed else ""}""")
    connection.execute("""
        CREATE TABLE repeated AS SELECT id, person FROM having_
        WHERE person IN (SELECT person FROM having_ GROUP BY person HAVING count(*) > 1)""")
    connection.execute("""
        CREATE TABLE alone AS SELECT id, count(*) AS own FROM having_
        WHERE person NOT IN (SELECT person FROM repeated) GROUP BY id""")
    found = [_one(connection, _rarest_of(size)) for size in range(1, m + 1)]
    return min((least for least in found if least is not None), default=None)


def _rarest_of(size: int) -> str:
    """Write the query for the smallest number of people who share some `size` items.

    The sum first counts the people with only one pattern, by pattern. It counts every other person
    once for each set of items, over all patterns of that person.
    """
    part = ", ".join(f"known{i}.item AS item{i}" for i in range(size))
    names = ", ".join(f"item{i}" for i in range(size))
    parts = "known AS known0" + "".join(
        f" JOIN known AS known{i} ON known{i}.id = known0.id AND known{i}.item > known{i - 1}.item"
        for i in range(1, size)
    )
    return f"""
        SELECT min(n) FROM (
            SELECT {names}, sum(n) AS n FROM (
                SELECT {part}, sum(own) AS n
                FROM {parts} JOIN alone ON alone.id = known0.id GROUP BY ALL
                UNION ALL
                SELECT {part}, count(DISTINCT person) AS n
                FROM {parts} JOIN repeated ON repeated.id = known0.id GROUP BY ALL
            ) GROUP BY {names}
        )"""


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> float | None:
    row = connection.execute(sql).fetchone()
    assert row is not None
    return None if row[0] is None else float(row[0])
