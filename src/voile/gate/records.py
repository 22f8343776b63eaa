"""People's records: the released rows of a person that released columns join.

Each value that one person alone has joins the person's rows with it. So do two values of two
columns that one person alone has together. So do all labels with one or two values, if at least
half of such combinations that several rows show are of one person. A *record* is the multiset of
the groups of joined rows; a row that nothing joins is a record of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.gate.people_of_rows import ORDER

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LABELS, GROUP = "the labels", "g"
"""The labels of a row, all together, as an adversary's column and as that of the table `rows`."""
SAMPLED = 100_000
"""Rows, about, in which the labels and other values are tried."""
LISTED = 500_000
"""Pairs of a record and a group that are listed at a time, since lists do not spill."""
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RecordClasses:
    """People by the smallest class of their records.

    columns : the released columns that join rows.
    sizes : (s,) distinct numbers of people who share a record.
    people : (s,) people whose least shared record has so many. classes : (s,) such classes.

    People with equal records of all their rows share each of these records.
    """

    columns: tuple[str, ...]
    sizes: Counts
    people: Counts
    classes: Counts

    @property
    def k(self) -> int:
        """The fewest people who share a record."""
        return int(self.sizes[self.people > 0].min())

    @property
    def subjects(self) -> int:
        """The people of the release."""
        return int(self.people.sum())

    def count_people(self, k: int) -> int:
        """Count the people with a record that fewer than `k` people share."""
        return int(self.people[self.sizes < k].sum())

    def count_classes(self, k: int) -> int:
        """Count the classes of equal records that fewer than `k` people share."""
        return int(self.classes[self.sizes < k].sum())


def count_records(
    columns: Mapping[str, str], connection: DuckDBPyConnection
) -> RecordClasses | None:
    """Count people by the records that some columns join; None where they join no rows.

    Parameters
    ----------
    columns : the column of the table `rows` that has each released one.
    connection : to a database with the tables `rows`, `pairs` and `persons` of a release.

    Guarantee: exact, for these columns and their pairs. Of more than 100,000 rows a part decides
    which columns join with the labels. Cost: O(rows) for each column, and for each pair of columns
    that have a value in several unjoined rows of a person. It spills.
    """
    if ORDER in columns and not _is_grouped(columns[ORDER], connection):
        columns = {name: value for name, value in columns.items() if name != ORDER}
    for name, value in columns.items():
        if _joins_everyone(value, connection):
            _size_classes(connection, "pairs", "person", "wholes")
            return _count_people(connection, (name,), "wholes")
    joined = _join_rows(columns, connection)
    found = None
    if joined:
        _size_classes(connection, "pairs", "person", "wholes")
        _size_classes(connection, "records", "record", "parts")
        found = _count_people(connection, joined, "parts")
        connection.execute("DROP TABLE parts")
    connection.execute("DROP TABLE records")
    return found


def _is_grouped(order: str, connection: DuckDBPyConnection) -> bool:
    """Whether at least half of the rows that could follow one of the same person do."""
    sql = f"SELECT count(*), count(DISTINCT {order}), count(DISTINCT person) FROM rows"
    rows, runs, people = connection.execute(sql).fetchone() or (0, 0, 0)
    return bool(2 * (rows - runs) >= rows - people)


def _joins_everyone(value: str, connection: DuckDBPyConnection) -> bool:
    """Whether each person has one value, which nobody else has, in all rows."""
    own = (
        f"SELECT {value} IS NOT NULL AS has_value, min(person) AS p, "
        f"min(person) = max(person) AS alone FROM rows GROUP BY {value}"
    )
    sql = f"SELECT bool_and(alone AND has_value) AND count(*) = count(DISTINCT p) FROM ({own})"
    return connection.execute(sql).fetchone() == (True,)


def _join_rows(columns: Mapping[str, str], connection: DuckDBPyConnection) -> tuple[str, ...]:
    """Make the table `records`, of record, person, group and times; return the joining columns.

    Equal rows of a person are one row of `linked`, each a record of its own at first. People with
    one row are not in it.
    """
    values = [*columns.values()]
    names = "".join(f", {value}" for value in values)
    connection.execute(
        "CREATE TABLE several AS SELECT person FROM rows GROUP BY person HAVING count(*) > 1; "
        "CREATE TABLE linked AS SELECT row_number() OVER () AS record, false AS is_joined, * FROM "
        f"(SELECT g, person{names}, count(*) AS times FROM rows SEMI JOIN several USING (person) "
        "GROUP BY ALL)"
    )
    found = {value for value in values if _join_equal(connection, "linked", value)}
    for place, value in enumerate(values):
        others = values[place + 1 :]
        if others and _find_near(value, others, connection):
            found |= {
                one
                for other in others
                if _join_equal(connection, "near", value, other)
                for one in (value, other)
            }
    own = [value for name, value in columns.items() if name != ORDER]
    for some in _find_reliable(own, connection):
        if _join_equal(connection, "linked", GROUP, *some):
            found |= {GROUP, *some}
    connection.execute(
        "CREATE TABLE records AS SELECT record, any_value(person) AS person, g, "
        "sum(CASE WHEN is_joined THEN times ELSE 1 END)::BIGINT AS times FROM linked "
        "WHERE g IS NOT NULL GROUP BY record, g UNION ALL "
        "SELECT row_number() OVER () + (SELECT count(*) FROM linked), person, g, rows "
        "FROM persons ANTI JOIN several USING (person); "
        "DROP TABLE linked; DROP TABLE several; DROP TABLE IF EXISTS near"
    )
    named = {**columns, LABELS: GROUP}
    return tuple(name for name, value in named.items() if value in found)


def _find_reliable(values: Sequence[str], connection: DuckDBPyConnection) -> Iterator[list[str]]:
    """Yield one or two columns that, with all labels, tell rows of one person from others' rows.

    At least half of the combinations that several rows show are of one person alone. They are
    counted in some of the groups, each whole.
    """
    (rows,) = connection.execute("SELECT count(*) FROM rows").fetchone() or (0,)
    connection.execute(
        f"CREATE TABLE sampled AS SELECT * FROM rows WHERE {GROUP} % {-(-rows // SAMPLED) or 1} = 0"
    )
    for some in (*combinations(values, 1), *combinations(values, 2)):
        known = " AND ".join(f"{value} IS NOT NULL" for value in (GROUP, *some))
        right, several = connection.execute(
            "SELECT count(*) FILTER (is_one), count(*) FROM (SELECT min(person) = max(person) "
            f"AS is_one FROM sampled WHERE {known} GROUP BY {GROUP}, {', '.join(some)} "
            "HAVING count(*) > 1)"
        ).fetchone() or (0, 0)
        if 2 * right >= several > 0:
            yield [*some]
    connection.execute("DROP TABLE sampled")


def _find_near(value: str, others: Sequence[str], connection: DuckDBPyConnection) -> bool:
    """Make the table `near`: the unjoined rows that share a value with another of the person.

    It has the other columns too; return whether it has rows.
    """
    connection.execute(
        f"CREATE OR REPLACE TABLE near AS SELECT record, is_joined, times, person, {value}, "
        f"{', '.join(others)} FROM linked SEMI JOIN (SELECT {value}, person "
        f"FROM linked WHERE {value} IS NOT NULL GROUP BY {value}, person HAVING {_UNJOINED}) "
        f"USING ({value}, person)"
    )
    return bool(connection.execute("SELECT 1 FROM near LIMIT 1").fetchall())


def _join_equal(connection: DuckDBPyConnection, among: str, *values: str) -> bool:
    """Join the rows with equal values that one person alone has; return whether any are.

    `among` is a table of rows: all that the values could join.
    """
    keys, has_joined = ", ".join(values), False
    known = " AND ".join(f"{value} IS NOT NULL" for value in values)
    same = " AND ".join(f"held.{value} = rows.{value}" for value in values)
    connection.execute(
        f"CREATE TABLE held AS SELECT * FROM (SELECT {keys}, min(person) AS person FROM {among} "
        f"WHERE {known} GROUP BY {keys} HAVING min(person) = max(person) AND {_UNJOINED}) held "
        f"ANTI JOIN rows ON {same} AND held.person <> rows.person"
    )
    while True:
        connection.execute(
            f"CREATE OR REPLACE TABLE firsts AS SELECT {keys}, min(record) AS first FROM linked "
            f"SEMI JOIN held USING ({keys}) GROUP BY {keys} HAVING {_UNJOINED}"
        )
        if not connection.execute("SELECT 1 FROM firsts LIMIT 1").fetchall():
            connection.execute("DROP TABLE firsts; DROP TABLE held")
            return has_joined
        has_joined = True
        connection.execute(
            "UPDATE linked SET record = moved.first, is_joined = true FROM (SELECT record, "
            f"min(first) AS first FROM linked JOIN firsts USING ({keys}) GROUP BY record) moved "
            "WHERE linked.record = moved.record"
        )


def _count_people(
    connection: DuckDBPyConnection, columns: tuple[str, ...], parts: str
) -> RecordClasses:
    """Count people by the classes of their records, sized in the table `parts`.

    Equal records of all rows make people alike in each part; drops the table `wholes`.
    """
    found = connection.execute(
        "WITH sized AS (SELECT parts.class, person, greatest(parts.size, wholes.size) AS size "
        f"FROM {parts} AS parts JOIN wholes USING (person)), "
        "classes AS (SELECT size, count(*) AS classes FROM (SELECT min(size) AS size "
        "FROM sized GROUP BY class) GROUP BY size), "
        "people AS (SELECT size, count(*) AS people FROM (SELECT min(size) AS size "
        "FROM sized GROUP BY person) GROUP BY size) "
        "SELECT size, coalesce(people, 0), coalesce(classes, 0) "
        "FROM people FULL JOIN classes USING (size) ORDER BY size"
    ).to_arrow_table()
    connection.execute("DROP TABLE wholes")
    sizes, people, classes = (np.asarray(column, np.int64) for column in found.columns)
    return RecordClasses(columns, sizes, people, classes)


def _size_classes(connection: DuckDBPyConnection, table: str, record: str, into: str) -> None:
    """Make a table of person, class and size: the people who share an equal record.

    `table` has a row for each record and group.
    """
    connection.execute(
        f"CREATE TABLE {into} (person BIGINT, class BIGINT, size BIGINT); "
        f"CREATE TABLE firsts AS SELECT {record} AS record, any_value(person) AS person, "
        f"count(*) AS groups, min(g) AS g, sum(times) AS times FROM {table} GROUP BY {record}"
    )
    for equal, records in _equal_records(connection, table, record):
        connection.execute(
            f"INSERT INTO {into} SELECT person, min(record) OVER (PARTITION BY {equal}), "
            f"count(*) OVER (PARTITION BY {equal}) FROM (SELECT {equal}, person, "
            f"min(record) AS record FROM ({records}) GROUP BY {equal}, person)"
        )
    connection.execute("DROP TABLE firsts")


def _equal_records(
    connection: DuckDBPyConnection, table: str, record: str
) -> Iterator[tuple[str, str]]:
    """Yield the columns in which equal records agree, and a SELECT of some records."""
    yield "g, times", "SELECT record, person, g, times FROM firsts WHERE groups = 1"
    counted = "SELECT coalesce(sum(groups), 0)::BIGINT FROM firsts WHERE groups > 1"
    (listed,) = connection.execute(counted).fetchone() or (0,)
    parts = -(-listed // LISTED)
    for part in range(parts):  # equal records have one first group, so they are in one part
        several = f"SELECT record FROM firsts WHERE groups > 1 AND g % {parts} = {part}"
        yield (
            "places",
            f"SELECT {record} AS record, any_value(person) AS person, "
            f"list_sort(list([g, times])) AS places FROM {table} "
            f"SEMI JOIN ({several}) several ON several.record = {table}.{record} "
            f"GROUP BY {table}.{record}",
        )


_UNJOINED = "(min(record) < max(record) OR (sum(times) > 1 AND NOT bool_and(is_joined)))"
