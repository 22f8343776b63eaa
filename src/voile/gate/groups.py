"""Groups of released rows that show the same labels, counted in people.

A *group* is a tuple of released labels, as written. It counts each person who has a row in it
once. Without people each row is a person. A person's risk is the largest over her rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.data import Source
from voile.data.source import identifier
from voile.engines.duck import connect
from voile.gate.people_of_rows import ORDER, PERSON, RowsWithPeople
from voile.gate.records import RecordClasses, RecordLinks
from voile.gate.sensitive import ValueCounts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Floats = NDArray[np.float64]
PeopleOf = Callable[[pa.Table], Floats]
"""Counts the people of the population in each group, given the groups' labels."""


@dataclass(frozen=True)
class PeopleAtRisk:
    """People by the smallest group of their rows, (m,) each.

    people : how many. group : people of the release in the smallest group of their rows.
    register : the smallest number of people, of the release or the population, in such a group.
    """

    people: Floats
    group: Floats
    register: Floats

    @property
    def subjects(self) -> float:
        """The people of the release."""
        return float(self.people.sum())


class ReleasedGroups:
    """The groups of one release, in a database of their own; see `open_groups`."""

    def __init__(
        self,
        rows: Source,
        labels: Sequence[str],
        sensitive: Sequence[str],
        has_people: bool,
        suppressed: Mapping[str, Collection[str | int]],
        connection: DuckDBPyConnection,
    ) -> None:
        self._rows, self._labels = rows, tuple(labels)
        self._has_people, self._connection = has_people, connection
        named = [identifier(name) for name in self._labels] or ["0"]  # without labels, one group
        keys = [f"k{place}" for place in range(len(named))]
        self._named = ", ".join(f"{name} AS {key}" for name, key in zip(named, keys, strict=True))
        self._keys = ", ".join(keys)
        self._same = " AND ".join(f"own.{key} IS NOT DISTINCT FROM groups.{key}" for key in keys)
        cells = {name: ", ".join(map(_literal, own)) for name, own in suppressed.items()}
        empty = [
            f"{identifier(name)} IN ({own})" if own else "false" for name, own in cells.items()
        ]
        self._where = f"WHERE NOT coalesce({' AND '.join(empty)}, false)" if empty else ""
        person = identifier(PERSON) if has_people else "NULL::BIGINT"
        self._values = {name: f"v{place}" for place, name in enumerate(sensitive)}
        counted = "".join(f"{identifier(name)} AS {v}, " for name, v in self._values.items())
        self._create(
            "own",
            [*self._labels, *sensitive],
            f"SELECT {self._named}, {counted}{person} AS person, count(*) AS times",
        )
        self._number_groups()

    def _number_groups(self) -> None:
        """Make the tables of groups, of cells with sensitive values, of pairs and of people."""
        values = "".join(f"{v}, " for v in self._values.values())
        people = "count(*)" if self._has_people else "sum(times)"
        self._connection.execute(
            f"CREATE TABLE numbered AS SELECT row_number() OVER (ORDER BY {self._keys}) AS g, * "
            f"FROM (SELECT DISTINCT {self._keys} FROM own); "
            f"CREATE TABLE cells AS SELECT g, {values}person, times FROM own "
            f"JOIN numbered AS groups ON {self._same}; DROP TABLE own; "
            "CREATE TABLE counted AS SELECT g, person, sum(times)::BIGINT AS times FROM cells "
            "GROUP BY g, person; "
            f"CREATE TABLE groups AS SELECT * FROM numbered JOIN (SELECT g, {people}::DOUBLE "
            "AS people FROM counted GROUP BY g) USING (g); DROP TABLE numbered; "
            "CREATE TABLE pairs AS SELECT g, person, times, people FROM counted "
            "JOIN groups USING (g); DROP TABLE counted; "
            "CREATE TABLE persons AS SELECT person, count(*) AS groups, min(g) AS g, "
            "sum(times)::BIGINT AS rows FROM pairs GROUP BY person"
        )

    def _create(self, table: str, columns: Sequence[str], select: str) -> None:
        """Make a table of what the rows have, one row for each distinct combination."""
        reads = [*dict.fromkeys([*columns, *([PERSON] if self._has_people else [])])]
        sql = f"{select} FROM source {self._where} GROUP BY ALL"
        self._rows.select(self._connection, sql, columns=reads, into=table)

    def _read(self, columns: Sequence[str], sql: str) -> tuple[Any, ...]:
        """Return the one line that a SELECT over the rows gives."""
        self._rows.select(self._connection, sql, columns=columns, into="answer")
        row = self._connection.execute("SELECT * FROM answer").fetchone()
        self._connection.execute("DROP TABLE answer")
        assert row is not None
        return row

    def _fetch(self, sql: str) -> dict[str, NDArray[Any]]:
        return {n: np.asarray(x) for n, x in self._connection.execute(sql).fetchnumpy().items()}

    @property
    def labels(self) -> pa.Table:
        """The labels of each group, in a fixed order."""
        table = self._connection.execute(f"SELECT {self._keys} FROM groups ORDER BY g")
        found = table.to_arrow_table()
        return pa.table(dict(zip(self._labels, found.columns, strict=False)))

    @property
    def people(self) -> Floats:
        """(groups,) the people of each group."""
        return self._fetch("SELECT people FROM groups ORDER BY g")["people"]

    @property
    def masses(self) -> Floats:
        """(groups,) the same with each person spread evenly over her groups."""
        if not self._has_people:
            return self.people
        shares = "SELECT person, groups AS m FROM persons"
        return self._fetch(f"SELECT n FROM ({_spread('pairs', 'g', shares)}) ORDER BY g")["n"]

    def people_at_risk(self, population: Floats) -> PeopleAtRisk:
        """Count people by the smallest group of their rows; `population` has one entry a group."""
        sizes = pa.table({"g": np.arange(1, len(population) + 1), "register": population})
        self._connection.register("sizes", sizes)
        each = (
            "SELECT min(people) AS n, min(greatest(people, register))::DOUBLE AS r, 1 AS held "
            "FROM pairs JOIN sizes USING (g) GROUP BY person"
            if self._has_people
            else "SELECT people AS n, greatest(people, register)::DOUBLE AS r, people AS held "
            "FROM groups JOIN sizes USING (g)"
        )
        found = self._fetch(
            f"SELECT sum(held)::DOUBLE AS held, n, r FROM ({each}) GROUP BY n, r ORDER BY n, r"
        )
        return PeopleAtRisk(found["held"], found["n"], found["r"])

    def by_value(self, column: str) -> ValueCounts:
        """Count people by group and by value of a column.

        A person is spread evenly over her distinct pairs of group and value.
        """
        value = self._values[column]
        self._connection.execute(
            "CREATE TABLE told AS SELECT row_number() OVER (ORDER BY v NULLS LAST) - 1 AS i, v "
            f"FROM (SELECT DISTINCT {value} AS v FROM cells); "
            "CREATE TABLE held AS SELECT g - 1 AS g, i, person, sum(times) AS times FROM cells "
            f"JOIN told ON cells.{value} IS NOT DISTINCT FROM told.v GROUP BY ALL"
        )
        spread = (
            _spread("held", "g, i", "SELECT person, count(*) AS m FROM held GROUP BY person")
            if self._has_people
            else "SELECT g, i, sum(times)::DOUBLE AS n FROM held GROUP BY g, i"
        )
        found = self._fetch(f"SELECT g, i, n FROM ({spread}) ORDER BY g, i")
        values = self._connection.execute("SELECT v FROM told ORDER BY i").to_arrow_table()
        self._connection.execute("DROP TABLE told; DROP TABLE held")
        return ValueCounts(found["g"], found["i"], found["n"], values.column(0).to_pylist())

    def count_unique(self, columns: Sequence[str]) -> int:
        """Count the people with a row of a group whose values here no other person has."""
        types, who = self._rows.columns, identifier(PERSON)
        keys = ", ".join(
            identifier(name) + "::VARCHAR" * pa.types.is_floating(types[name]) for name in columns
        )
        alone = f"min({who}) = max({who})" if self._has_people else "count(*) = 1"
        person = f"min({who})" if self._has_people else "1"
        people = "count(DISTINCT p)" if self._has_people else "count(*)"
        reads = [*dict.fromkeys([*columns, *self._labels, *[PERSON] * self._has_people])]
        grouped = (
            f"SELECT {person} AS p FROM source {self._where} GROUP BY {keys or '()'} HAVING {alone}"
        )
        (found,) = self._read(reads, f"SELECT {people} FROM ({grouped})")
        return int(found)

    @property
    def has_several_rows(self) -> bool:
        """Whether some person has more than one row."""
        if not self._has_people:
            return False
        sql = "SELECT 1 FROM persons WHERE rows > 1 LIMIT 1"
        return bool(self._connection.execute(sql).fetchall())

    def classes_of_records(self, columns: Sequence[str]) -> RecordClasses | None:
        """Count people by the records that these columns join, and the rows' order if it is kept.

        None where no person has several rows, or where nothing joins them.
        """
        if not self.has_several_rows:
            return None
        order = [ORDER] * (ORDER in self._rows.columns)
        links = RecordLinks(self._rows, self._named, self._labels, self._same, self._connection)
        return links.count_classes([*columns, *order])


def _spread(table: str, keys: str, shares: str) -> str:
    """Write a SELECT of the people by some keys, each spread evenly over her rows of a table.

    `shares` selects the number m of rows of each person. Sums are of whole people by m, so that
    no order of rows decides a digit.
    """
    return (
        f"SELECT {keys}, sum(n / m ORDER BY m)::DOUBLE AS n FROM (SELECT {keys}, m, count(*) AS n "
        f"FROM {table} JOIN ({shares}) USING (person) GROUP BY {keys}, m) GROUP BY {keys}"
    )


def _literal(value: str | int) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


@contextmanager
def open_groups(
    rows: Source,
    labels: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    people: Source | None = None,
    suppressed: Mapping[str, Collection[str | int]] | None = None,
    directory: Path | None = None,
) -> Iterator[ReleasedGroups]:
    """Count the groups of a release's rows.

    Parameters
    ----------
    rows : the release, as written.
    labels : its generalised columns, at least one. sensitive : the columns that are counted by.
    people : a column `person` of tokens in the release's order, and maybe `row` of the source's
        rows; None: each row is a person.
    suppressed : of each label column the cells that stand for no value. A row of such cells alone
        is in no group.
    directory : where what does not fit in memory is kept meanwhile.

    Raises
    ------
    TamperedError : `people` has another number of rows than the release.

    Cost: one pass over the rows; memory grows with the groups, and spills beyond 1 GB.
    """
    counted = rows if people is None else RowsWithPeople(rows, people)
    with connect(directory=directory) as connection:
        yield ReleasedGroups(
            counted, labels, sensitive, people is not None, suppressed or {}, connection
        )
