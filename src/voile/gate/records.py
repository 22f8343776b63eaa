"""People's records: the released rows of a person that released columns join.

Each value that one person alone has joins the person's rows with it. So do two values of two
columns that one person alone has together. A *record* is the multiset of the groups of joined rows;
a row that nothing joins is a record of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.data.source import identifier
from voile.gate.people_of_rows import ORDER, PERSON

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from voile.data import Source

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


@dataclass(frozen=True)
class RecordLinks:
    """Joins the rows of a release in a database, of which `pairs` and `groups` are tables.

    rows : the release with its people. shown : the labels and their keys, as a SELECT has them.
    is_of_group : the condition for a row of `own` to be of a group.
    """

    rows: Source
    shown: str
    labels: Sequence[str]
    is_of_group: str
    connection: DuckDBPyConnection

    def count_classes(self, columns: Sequence[str]) -> RecordClasses | None:
        """Count people by the records that some columns join; None where they join no rows.

        Guarantee: exact, for these columns and their pairs. Cost: O(rows) for each column, and for
        each pair of columns that have a value in several unjoined rows of a person. It spills.
        """
        joining = [name for name in columns if name != ORDER or self._is_grouped()]
        if whole := next((name for name in joining if self._joins_everyone(name)), None):
            self._size_classes("pairs", "person", "wholes")
            return self._count_people((whole,), "wholes")
        self._load_rows(joining)
        joined = self._join_rows(joining)
        self.connection.execute(
            "CREATE TABLE records AS SELECT record, any_value(person) AS person, g, "
            "sum(CASE WHEN is_joined THEN times ELSE 1 END)::BIGINT AS times FROM linked "
            "WHERE g IS NOT NULL GROUP BY record, g; DROP TABLE linked"
        )
        found = None
        if joined:
            self._size_classes("pairs", "person", "wholes")
            self._size_classes("records", "record", "parts")
            found = self._count_people(joined, "parts")
            self.connection.execute("DROP TABLE parts")
        self.connection.execute("DROP TABLE records")
        return found

    def _is_grouped(self) -> bool:
        """Whether at least half of the rows that could follow one of the same person do."""
        counts = f"count(*), count(DISTINCT {identifier(ORDER)}), count(DISTINCT {_WHO})"
        self.rows.select(
            self.connection, f"SELECT {counts} FROM source", columns=[ORDER, PERSON], into="answer"
        )
        rows, runs, people = self._take_answer()
        return 2 * (rows - runs) >= rows - people

    def _joins_everyone(self, column: str) -> bool:
        """Whether each person has one value, which nobody else has, in all rows."""
        own = (
            f"SELECT {identifier(column)} IS NOT NULL AS has_value, min({_WHO}) AS p, "
            f"min({_WHO}) = max({_WHO}) AS alone FROM source GROUP BY {identifier(column)}"
        )
        sql = f"SELECT bool_and(alone AND has_value) AND count(*) = count(DISTINCT p) FROM ({own})"
        self.rows.select(self.connection, sql, columns=[column, PERSON], into="answer")
        return bool(self._take_answer()[0])

    def _take_answer(self) -> tuple[int, ...]:
        row = self.connection.execute("SELECT * FROM answer").fetchone()
        self.connection.execute("DROP TABLE answer")
        assert row is not None
        return tuple(row)

    def _load_rows(self, columns: Sequence[str]) -> None:
        """Make the table `linked`: equal rows of a person once, each a record of its own."""
        types = self.rows.columns
        values = "".join(
            f"{identifier(name)}{'::VARCHAR' * pa.types.is_floating(types[name])} AS v{n}, "
            for n, name in enumerate(columns)
        )
        reads = [*dict.fromkeys([*self.labels, *columns, PERSON])]
        sql = f"SELECT {self.shown}, {values}{_WHO} AS person, count(*) AS times FROM source "
        self.rows.select(self.connection, f"{sql}GROUP BY ALL", columns=reads, into="own")
        names = "".join(f"v{n}, " for n in range(len(columns)))
        self.connection.execute(
            f"CREATE TABLE linked AS SELECT row_number() OVER () AS record, g, {names}person, "
            f"times, false AS is_joined FROM own LEFT JOIN groups ON {self.is_of_group}; "
            "DROP TABLE own"
        )

    def _join_rows(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Give joined rows one record; return the columns that joined any."""
        values = [f"v{n}" for n in range(len(columns))]
        found = {value for value in values if self._join_equal(value)}
        several = [value for value in values if self._has_unjoined(value)]
        for pair in combinations(several, 2):
            if self._join_equal(*pair):
                found |= {*pair}
        return tuple(name for value, name in zip(values, columns, strict=True) if value in found)

    def _has_unjoined(self, value: str) -> bool:
        """Whether a person has one value in several rows that nothing joins."""
        sql = f"SELECT 1 FROM linked WHERE {value} IS NOT NULL GROUP BY {value}, person"
        return bool(self.connection.execute(f"{sql} HAVING {_UNJOINED} LIMIT 1").fetchall())

    def _join_equal(self, *values: str) -> bool:
        """Join the rows with equal values that one person alone has; return whether any are."""
        keys, has_joined = ", ".join(values), False
        known = " AND ".join(f"{value} IS NOT NULL" for value in values)
        while True:
            self.connection.execute(
                f"CREATE OR REPLACE TABLE held AS SELECT {keys}, min(record) AS first FROM linked "
                f"WHERE {known} GROUP BY {keys} HAVING min(person) = max(person) AND {_UNJOINED}"
            )
            if not self.connection.execute("SELECT 1 FROM held LIMIT 1").fetchall():
                self.connection.execute("DROP TABLE held")
                return has_joined
            has_joined = True
            self.connection.execute(
                "UPDATE linked SET record = moved.first, is_joined = true FROM (SELECT record, "
                f"min(first) AS first FROM linked JOIN held USING ({keys}) GROUP BY record) moved "
                "WHERE linked.record = moved.record"
            )

    def _count_people(self, columns: tuple[str, ...], parts: str) -> RecordClasses:
        """Count people by the classes of their records, sized in the table `parts`.

        Equal records of all rows make people alike in each part; drops the table `wholes`.
        """
        found = self.connection.execute(
            "WITH sized AS (SELECT parts.class, person, greatest(parts.size, wholes.size) AS size "
            f"FROM {parts} AS parts JOIN wholes USING (person)), "
            "classes AS (SELECT size, count(*) AS classes FROM (SELECT min(size) AS size "
            "FROM sized GROUP BY class) GROUP BY size), "
            "people AS (SELECT size, count(*) AS people FROM (SELECT min(size) AS size "
            "FROM sized GROUP BY person) GROUP BY size) "
            "SELECT size, coalesce(people, 0), coalesce(classes, 0) "
            "FROM people FULL JOIN classes USING (size) ORDER BY size"
        ).to_arrow_table()
        self.connection.execute("DROP TABLE wholes")
        sizes, people, classes = (np.asarray(column, np.int64) for column in found.columns)
        return RecordClasses(columns, sizes, people, classes)

    def _size_classes(self, table: str, record: str, into: str) -> None:
        """Make a table of person, class and size: the people who share an equal record.

        `table` has a row for each record and group.
        """
        self.connection.execute(
            f"CREATE TABLE {into} (person BIGINT, class BIGINT, size BIGINT); "
            f"CREATE TABLE firsts AS SELECT {record} AS record, any_value(person) AS person, "
            f"count(*) AS groups, min(g) AS g, sum(times) AS times FROM {table} GROUP BY {record}"
        )
        for equal, records in self._equal_records(table, record):
            self.connection.execute(
                f"INSERT INTO {into} SELECT person, min(record) OVER (PARTITION BY {equal}), "
                f"count(*) OVER (PARTITION BY {equal}) FROM (SELECT {equal}, person, "
                f"min(record) AS record FROM ({records}) GROUP BY {equal}, person)"
            )
        self.connection.execute("DROP TABLE firsts")

    def _equal_records(self, table: str, record: str) -> Iterator[tuple[str, str]]:
        """Yield the columns in which equal records agree, and a SELECT of some records."""
        yield "g, times", "SELECT record, person, g, times FROM firsts WHERE groups = 1"
        counted = "SELECT coalesce(sum(groups), 0)::BIGINT FROM firsts WHERE groups > 1"
        (listed,) = self.connection.execute(counted).fetchone() or (0,)
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


_WHO = identifier(PERSON)
_UNJOINED = "(min(record) < max(record) OR (sum(times) > 1 AND NOT bool_and(is_joined)))"
