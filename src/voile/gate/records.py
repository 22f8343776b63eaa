"""Count people by records: the released rows of a person that released columns join.

An equal value joins rows if only one person has it. A value is one of these:

- a value of one column
- two values of two columns together
- all labels with one or two values, if at least half of such combinations in several rows belong to
  one person each

A *record* is the multiset of the groups of joined rows. A row without joined rows is also a record.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.gate.finding import GateFinding, StatedAdversary
from voile.gate.people_of_rows import ORDER

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

WHOLE = "sum(times * a::HUGEINT) AS a, sum(times * b::HUGEINT) AS b"
"""The SQL sums of the codes of a record's groups, with one code for each row."""
PERSONS = (
    "CREATE TABLE persons AS SELECT person, count(*) AS groups, min(g) AS g, "
    f"sum(times)::BIGINT AS rows, {WHOLE} FROM pairs JOIN groups USING (g) GROUP BY person"
)
"""SQL that creates the table of people, from their groups and the number of rows in each,
`times`.
"""
SMALL_GROUP = 11
LABELS, GROUP = "the labels", "g"
"""All labels of a row together: the description of them, and the column `g` of the table `rows`."""
SAMPLED = 100_000
"""The approximate number of rows on which the gate tests labels with other values."""
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class RecordClasses:
    """Counts of people by the smallest class of their records.

    columns : the released columns that join rows.
    sizes : (s,), the distinct class sizes, where a size is the number of people who share a record.
    people : (s,), the number of people with a smallest class of this size.
    classes : (s,), the number of classes of this size.

    People with equal rows in all groups share each of their records.
    """

    columns: tuple[str, ...]
    sizes: Counts
    people: Counts
    classes: Counts

    @property
    def k(self) -> int:
        """The smallest number of people who share a record."""
        return int(self.sizes[self.people > 0].min())

    @property
    def subjects(self) -> int:
        """The number of people of the release."""
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
    """Count people by the records that some columns join.

    Returns None if the columns join no rows, or if no person has several rows in groups.

    Parameters
    ----------
    columns : the released columns, each with its column name in the table `rows`.
    connection : a connection to a database with three tables of a release: `rows` (g, person,
        columns), `groups` (g, and the codes of `draw_codes`) and `persons`.

    Guarantee: exact for these columns and their pairs, except for a chance of at most 2^-128 for
    each two records. Two sums of the groups' secret random codes represent a record. Records with
    equal sums count as equal. If there are more than 100,000 rows, a sample of them decides which
    columns join with the labels.

    Cost: O(rows) for each column, and for each pair of columns with a value in several rows of a
    person. DuckDB spills to disk.
    """
    if not _has_rows("persons WHERE rows > 1", connection):
        return None
    if ORDER in columns and not _is_grouped(columns[ORDER], connection):
        columns = {name: value for name, value in columns.items() if name != ORDER}
    for name, value in columns.items():
        if _joins_everyone(value, connection):
            return _count_whole(connection, (name,))
    joined = _join_rows(columns, connection)
    found = _count_parts(connection, joined) if joined else None
    connection.execute("DROP TABLE linked; DROP TABLE several")
    return found


def draw_codes() -> str:
    """Write the SQL columns a and b: two random 64-bit codes for each group, from a secret key."""
    text = f"'{secrets.token_hex(16)} ' || g"
    return f"md5_number_lower({text}) AS a, md5_number_upper({text}) AS b"


def name_joiner(columns: Sequence[str], labels: str) -> StatedAdversary:
    """Return the adversary who joins the rows of a person by released columns."""
    joining = " and ".join(columns) + (" joins" if len(columns) == 1 else " join")
    return StatedAdversary(f"knows {labels} of all rows of a person, which {joining}")


def measure_records(records: RecordClasses, promised: int, labels: str) -> Iterator[GateFinding]:
    """Yield the findings about people whose rows an adversary joins.

    promised : the number of people who must share a record.
    labels : the description of the values of each row that the adversary knows.
    """
    adversary = name_joiner(records.columns, labels)
    yield adversary.finds("k_all_rows", records.k, "people")
    counts = (
        ("unique_all_rows", 2),
        ("people_below_k", promised),
        ("people_under_11", SMALL_GROUP),
    )
    for name, k in counts:
        yield adversary.finds(name, records.count_people(k), "people", n=records.subjects)
    yield adversary.finds("groups_under_11", records.count_classes(SMALL_GROUP), "groups")


def _is_grouped(order: str, connection: DuckDBPyConnection) -> bool:
    """Return whether most rows of a person follow each other.

    The share is at least half of the rows that could follow a row of the same person.
    """
    sql = f"SELECT count(*), count(DISTINCT {order}), count(DISTINCT person) FROM rows"
    rows, runs, people = connection.execute(sql).fetchone() or (0, 0, 0)
    return bool(2 * (rows - runs) >= rows - people)


def _joins_everyone(value: str, connection: DuckDBPyConnection) -> bool:
    """Return whether each person has a single value in all rows, which nobody else has."""
    own = (
        f"SELECT {value} IS NOT NULL AS has_value, min(person) AS p, "
        f"min(person) = max(person) AS alone FROM rows GROUP BY {value}"
    )
    sql = f"SELECT bool_and(alone AND has_value) AND count(*) = count(DISTINCT p) FROM ({own})"
    return connection.execute(sql).fetchone() == (True,)


def _join_rows(columns: Mapping[str, str], connection: DuckDBPyConnection) -> tuple[str, ...]:
    """Create the table `linked` of each row's record, person and group; return joining columns.

    Each row starts as a record of its own. The table `several` contains the people with several
    rows. The table `linked` contains only their rows.
    """
    values = [*columns.values()]
    names = "".join(f", {value}" for value in values)
    connection.execute(
        "CREATE TABLE several AS SELECT person FROM rows GROUP BY person HAVING count(*) > 1; "
        f"CREATE TABLE linked AS SELECT rowid AS record, g, person{names} FROM rows "
        "SEMI JOIN several USING (person)"
    )
    found = {value for value in values if _join_equal(connection, "linked", value)}
    for pair, near in _find_near(values, connection):
        if _join_equal(connection, near, *pair):
            found |= {*pair}
    own = [value for name, value in columns.items() if name != ORDER]
    for some in _find_reliable(own, connection):
        if _join_equal(connection, "linked", GROUP, *some):
            found |= {GROUP, *some}
    named = {**columns, LABELS: GROUP}
    return tuple(name for name, value in named.items() if value in found)


def _find_reliable(values: Sequence[str], connection: DuckDBPyConnection) -> list[list[str]]:
    """Return sets of one or two columns that, with all labels, distinguish people's rows.

    At least half of their combinations in several rows belong to one person each. The count uses a
    sample of whole groups.
    """
    (rows,) = connection.execute("SELECT count(*) FROM rows").fetchone() or (0,)
    connection.execute(
        f"CREATE TABLE sampled AS SELECT * FROM rows WHERE {GROUP} % {-(-rows // SAMPLED) or 1} = 0"
    )
    found = []
    for some in (*combinations(values, 1), *combinations(values, 2)):
        known = " AND ".join(f"{value} IS NOT NULL" for value in (GROUP, *some))
        right, several = connection.execute(
            "SELECT count(*) FILTER (is_one), count(*) FROM (SELECT min(person) = max(person) "
            f"AS is_one FROM sampled WHERE {known} GROUP BY {GROUP}, {', '.join(some)} "
            "HAVING count(*) > 1)"
        ).fetchone() or (0, 0)
        if 2 * right >= several > 0:
            found.append([*some])
    connection.execute("DROP TABLE sampled")
    return found


def _find_near(
    values: Sequence[str], connection: DuckDBPyConnection
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each pair of columns, with a SELECT of the rows that the pair could join.

    Such a row shares each of its two values with another row of the same person.
    """
    tables = {}
    for value in values:
        connection.execute(
            f"CREATE TABLE near_{value} AS SELECT record, person, {value} FROM linked SEMI JOIN "
            f"(SELECT {value}, person FROM linked WHERE {value} IS NOT NULL "
            f"GROUP BY {value}, person HAVING {_UNJOINED}) USING ({value}, person)"
        )
        tables[value] = f"near_{value}"
    for a, b in combinations([x for x, own in tables.items() if _has_rows(own, connection)], 2):
        yield (a, b), f"{tables[a]} JOIN {tables[b]} USING (record, person)"
    connection.execute("; ".join(f"DROP TABLE {own}" for own in tables.values()) or "SELECT 1")


def _join_equal(connection: DuckDBPyConnection, among: str, *values: str) -> bool:
    """Join the rows with equal values that only one person has; return whether any were joined.

    `among` is the table of all rows that the values could join.
    """
    keys, has_joined = ", ".join(values), False
    known = " AND ".join(f"{value} IS NOT NULL" for value in values)
    same = " AND ".join(f"held.{value} = rows.{value}" for value in values)
    connection.execute(
        f"CREATE TABLE held AS SELECT {keys}, min(person) AS person FROM {among} "
        f"WHERE {known} GROUP BY {keys} HAVING min(person) = max(person) AND {_UNJOINED}"
    )
    if not _has_rows("held", connection):
        connection.execute("DROP TABLE held")
        return False
    connection.execute(
        f"CREATE OR REPLACE TABLE held AS SELECT * FROM held ANTI JOIN rows ON {same} "
        "AND held.person <> rows.person"
    )
    while True:
        connection.execute(
            f"CREATE OR REPLACE TABLE firsts AS SELECT {keys}, min(record) AS first FROM linked "
            f"SEMI JOIN held USING ({keys}) GROUP BY {keys} HAVING {_UNJOINED}"
        )
        if not _has_rows("firsts", connection):
            connection.execute("DROP TABLE firsts; DROP TABLE held")
            return has_joined
        has_joined = True
        connection.execute(
            "UPDATE linked SET record = moved.first FROM (SELECT record, "
            f"min(first) AS first FROM linked JOIN firsts USING ({keys}) GROUP BY record) moved "
            "WHERE linked.record = moved.record"
        )


def _has_rows(table: str, connection: DuckDBPyConnection) -> bool:
    return bool(connection.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchall())


def _count_whole(connection: DuckDBPyConnection, columns: tuple[str, ...]) -> RecordClasses:
    """Count people by the classes of all their rows."""
    return _read_classes(
        connection,
        columns,
        "SELECT size, size * count(*) AS people, count(*) AS classes "
        "FROM (SELECT count(*) AS size FROM persons GROUP BY a, b) GROUP BY size ORDER BY size",
    )


def _count_parts(connection: DuckDBPyConnection, columns: tuple[str, ...]) -> RecordClasses:
    """Count people by the classes of their records in the table `linked`.

    People with equal records of all rows also share each part. People with a single row in the same
    group are equal, so one person represents all n of them.
    """
    connection.execute(
        "CREATE TABLE wholes AS SELECT person, 1 AS n, a, b FROM persons SEMI JOIN several "
        "USING (person) UNION ALL SELECT min(person), count(*), any_value(a), any_value(b) "
        "FROM persons ANTI JOIN several USING (person) GROUP BY g; "
        "CREATE TABLE parts AS SELECT person, any_value(n) AS n, a, b FROM ("
        f"SELECT any_value(person) AS person, 1 AS n, {WHOLE} FROM (SELECT *, 1 AS times "
        "FROM linked) JOIN groups USING (g) GROUP BY record UNION ALL "
        "SELECT person, n, a, b FROM wholes ANTI JOIN several USING (person)) "
        "GROUP BY person, a, b"
    )
    sized = (
        "(SELECT person, n, a, b, size FROM {0} "
        "JOIN (SELECT a, b, sum(n)::BIGINT AS size FROM {0} GROUP BY a, b) USING (a, b))"
    )
    found = _read_classes(
        connection,
        columns,
        "WITH sized AS (SELECT parts.a, parts.b, person, parts.n, "
        f"greatest(parts.size, wholes.size) AS size FROM {sized.format('parts')} AS parts "
        f"JOIN {sized.format('wholes')} AS wholes USING (person)), "
        "classes AS (SELECT size, count(*) AS classes FROM (SELECT min(size) AS size "
        "FROM sized GROUP BY a, b) GROUP BY size), "
        "people AS (SELECT size, sum(n) AS people FROM (SELECT min(size) AS size, "
        "any_value(n) AS n FROM sized GROUP BY person) GROUP BY size) "
        "SELECT size, coalesce(people, 0), coalesce(classes, 0) "
        "FROM people FULL JOIN classes USING (size) ORDER BY size",
    )
    connection.execute("DROP TABLE parts; DROP TABLE wholes")
    return found


def _read_classes(
    connection: DuckDBPyConnection, columns: tuple[str, ...], sql: str
) -> RecordClasses:
    found = connection.execute(sql).to_arrow_table()
    sizes, people, classes = (np.asarray(column, np.int64) for column in found.columns)
    return RecordClasses(columns, sizes, people, classes)


_UNJOINED = "min(record) < max(record)"
