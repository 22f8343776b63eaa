"""Groups of released rows with the same labels, and the number of people in each group.

A *group* is a distinct tuple of released labels, as written. A person counts once in each group
that contains a row of hers. If no people are given, each row counts as a person. A person's risk is
the largest risk of her rows.
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
from voile.gate.records import PERSONS, RecordClasses, count_records, draw_codes
from voile.gate.sensitive import ValueCounts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Floats = NDArray[np.float64]
PeopleOf = Callable[[pa.Table], Floats]
"""A function that returns the number of people of the population in each group, given its
labels.
"""
MEMORY = 500_000_000
"""The memory budget of a count, in bytes. DuckDB uses half of it and spills to disk beyond that."""


@dataclass(frozen=True)
class PeopleAtRisk:
    """Counts of people by the smallest group of their rows, as arrays (m,).

    people : the number of people.
    group : the number of the release's people in the smallest group of their rows.
    register : the same, but each group's size is the larger of its counts in the release and in the
        population.
    """

    people: Floats
    group: Floats
    register: Floats

    @property
    def subjects(self) -> float:
        """The number of people of the release."""
        return float(self.people.sum())


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The columns of a released table other than its labels, by their use to an adversary.

    sensitive : the columns for which diversity within groups is measured.
    known : columns that an adversary may know about a person, in addition to the labels.
    others : pseudonyms and kept values, which may join the rows of a person.
    """

    sensitive: Sequence[str] = ()
    known: Sequence[str] = ()
    others: Sequence[str] = ()


NO_COLUMNS = TableColumns()


class ReleasedGroups:
    """The groups of one release, in a DuckDB database of their own; see `open_groups`.

    The table `rows` contains the released rows with the number `g` of their group. `g` is null for
    a row that belongs to no group.
    """

    def __init__(
        self,
        rows: Source,
        labels: Sequence[str],
        columns: TableColumns,
        has_people: bool,
        suppressed: Mapping[str, Collection[str | int]],
        connection: DuckDBPyConnection,
    ) -> None:
        self.label_names, self.columns = tuple(labels), columns
        self._has_people, self._connection = has_people, connection
        order = [ORDER] * (ORDER in rows.columns)
        used = dict.fromkeys([*columns.sensitive, *columns.known, *columns.others, *order])
        names = [name for name in used if name not in self.label_names]
        self._values = {name: f"v{place}" for place, name in enumerate(names)}
        self._joining = [*columns.others, *order]
        self._keys = [f"k{place}" for place in range(max(len(labels), 1))]
        self._load_rows(rows, suppressed)
        self._number_groups()

    def _load_rows(self, rows: Source, suppressed: Mapping[str, Collection[str | int]]) -> None:
        """Create the tables `numbered`, of groups, and `rows`, with two passes over the release."""
        named = [identifier(name) for name in self.label_names] or [
            "0"
        ]  # without labels, all rows form one group
        own = ", ".join(f"{name} AS {key}" for name, key in zip(named, self._keys, strict=True))
        cells = {name: ", ".join(map(_literal, texts)) for name, texts in suppressed.items()}
        empty = [
            f"{identifier(name)} IN ({texts})" if texts else "false"
            for name, texts in cells.items()
        ]
        where = f"WHERE NOT coalesce({' AND '.join(empty)}, false)" if empty else ""
        rows.select(
            self._connection,
            f"SELECT row_number() OVER (ORDER BY {', '.join(self._keys)}) AS g, * "
            f"FROM (SELECT DISTINCT {own} FROM source {where})",
            columns=self.label_names or [*rows.columns][:1],
            into="numbered",
        )
        values = "".join(
            f", {identifier(name)}{'::VARCHAR' * pa.types.is_floating(rows.columns[name])} AS {v}"
            for name, v in self._values.items()
        )
        who = [PERSON] * self._has_people
        same = " AND ".join(
            f"{name} IS NOT DISTINCT FROM numbered.{key}"
            for name, key in zip(named, self._keys, strict=True)
        )
        rows.select(
            self._connection,
            f"SELECT g, {identifier(PERSON) if who else 'NULL::BIGINT'} AS person{values} "
            f"FROM source LEFT JOIN numbered ON {same}",
            columns=[*self.label_names, *self._values, *who] or [*rows.columns][:1],
            into="rows",
        )

    def _number_groups(self) -> None:
        """Create the tables of groups, of pairs of a group and a person, and of people."""
        people = "count(*)" if self._has_people else "sum(times)"
        self._connection.execute(
            "CREATE TABLE counted AS SELECT g, person, count(*) AS times FROM rows "
            "WHERE g IS NOT NULL GROUP BY g, person; "
            f"CREATE TABLE groups AS SELECT *, {draw_codes()} FROM numbered "
            f"JOIN (SELECT g, {people}::DOUBLE AS people FROM counted GROUP BY g) USING (g); "
            "DROP TABLE numbered; "
            "CREATE TABLE pairs AS SELECT g, person, times, people FROM counted "
            f"JOIN groups USING (g); DROP TABLE counted; {PERSONS}"
        )

    def _fetch(self, sql: str) -> dict[str, NDArray[Any]]:
        return {n: np.asarray(x) for n, x in self._connection.execute(sql).fetchnumpy().items()}

    @property
    def labels(self) -> pa.Table:
        """The labels of each group, in order of group number."""
        table = self._connection.execute(f"SELECT {', '.join(self._keys)} FROM groups ORDER BY g")
        found = table.to_arrow_table()
        return pa.table(dict(zip(self.label_names, found.columns, strict=False)))

    @property
    def people(self) -> Floats:
        """The number of people in each group, (groups,)."""
        return self._fetch("SELECT people FROM groups ORDER BY g")["people"]

    @property
    def masses(self) -> Floats:
        """The number of people in each group, (groups,), each divided among her groups."""
        if not self._has_people:
            return self.people
        shares = "SELECT person, groups AS m FROM persons"
        return self._fetch(f"SELECT n FROM ({_write_spread('pairs', 'g', shares)}) ORDER BY g")["n"]

    def people_at_risk(self, population: Floats) -> PeopleAtRisk:
        """Count people by the smallest group of their rows.

        population : (groups,), the number of people of the population in each group.
        """
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

    def without_each_label(self) -> Iterator[tuple[str, PeopleAtRisk]]:
        """Yield each label column, with people by smallest group if the column is ignored.

        Memory: 16 bytes for each pair of a group and a person with several groups.
        """
        if not self.label_names:
            return
        held, shared, person = self._read_pairs()
        for column in self.label_names:
            wider = self._ignore(column)
            group = wider[shared]
            most = len(wider)
            pairs = np.sort(person * most + group)
            distinct = pairs[np.diff(pairs, prepend=-1) > 0] % most
            size = np.bincount(wider, held, most) + np.bincount(distinct, minlength=most)
            begins = np.flatnonzero(np.diff(person, prepend=-1))
            least = np.minimum.reduceat(size[group], begins) if len(person) else size[:0]
            people = np.concatenate([held, np.ones(len(least))])
            smallest = np.concatenate([size[wider], least])
            yield column, PeopleAtRisk(people[people > 0], *(smallest[people > 0],) * 2)

    def _read_pairs(self) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Return the people of each group with a single group, and the other pairs as two arrays.

        The two arrays contain the group and the person of each pair of a person with several
        groups. These people have numbers from 0.
        """
        if not self._has_people:
            return self.people, *(np.zeros(0, np.int64),) * 2
        lone = self._fetch(
            "SELECT g - 1 AS g, count(*) AS n FROM persons WHERE groups = 1 GROUP BY g"
        )
        held = np.zeros(len(self.people))
        held[lone["g"]] = lone["n"]
        found = self._fetch(
            "SELECT pairs.g - 1 AS g, person FROM pairs JOIN persons USING (person) "
            "WHERE groups > 1 ORDER BY person"
        )
        person = found["person"]
        return held, found["g"], np.cumsum(np.diff(person, prepend=person[:1]) != 0)

    def _ignore(self, column: str) -> NDArray[np.int64]:
        """Return, for each group, the number of its merged group if one label column is ignored."""
        keys = [k for k, name in zip(self._keys, self.label_names, strict=False) if name != column]
        others = ", ".join(keys) or "0"
        sql = f"SELECT dense_rank() OVER (ORDER BY {others}) - 1 AS w FROM groups ORDER BY g"
        return self._fetch(sql)["w"]

    def by_value(self, column: str) -> ValueCounts:
        """Count people by group and by value of a column.

        A person is divided evenly among her distinct pairs of a group and a value.
        """
        value = self._values[column]
        self._connection.execute(
            "CREATE TABLE told AS SELECT row_number() OVER (ORDER BY v NULLS LAST) - 1 AS i, v "
            f"FROM (SELECT DISTINCT {value} AS v FROM rows WHERE g IS NOT NULL); "
            "CREATE TABLE held AS SELECT g - 1 AS g, i, person, count(*) AS times FROM rows "
            f"JOIN told ON rows.{value} IS NOT DISTINCT FROM told.v WHERE g IS NOT NULL "
            "GROUP BY ALL"
        )
        spread = (
            _write_spread("held", "g, i", "SELECT person, count(*) AS m FROM held GROUP BY person")
            if self._has_people
            else "SELECT g, i, sum(times)::DOUBLE AS n FROM held GROUP BY g, i"
        )
        found = self._fetch(f"SELECT g, i, n FROM ({spread}) ORDER BY g, i")
        values = self._connection.execute("SELECT v FROM told ORDER BY i").to_arrow_table()
        self._connection.execute("DROP TABLE told; DROP TABLE held")
        return ValueCounts(found["g"], found["i"], found["n"], values.column(0).to_pylist())

    def count_unique(self) -> int:
        """Count the people with a row of unique labels and known values."""
        keys = ", ".join(["g", *(self._values[x] for x in self.columns.known if x in self._values)])
        alone = "min(person) = max(person)" if self._has_people else "count(*) = 1"
        people = "count(DISTINCT p)" if self._has_people else "count(*)"
        found = self._connection.execute(
            f"SELECT {people} FROM (SELECT min(person) AS p FROM rows WHERE g IS NOT NULL "
            f"GROUP BY {keys} HAVING {alone})"
        ).fetchone()
        assert found is not None
        return int(found[0])

    def classes_of_records(self) -> RecordClasses | None:
        """Count people by the records that other columns or a kept order of rows join.

        Returns None if no person has several grouped rows, or if no column joins them.
        """
        if not self._has_people:
            return None
        return count_records({name: self._values[name] for name in self._joining}, self._connection)


def _write_spread(table: str, keys: str, shares: str) -> str:
    """Write a SELECT that counts people by keys, with each person divided evenly among her rows.

    `shares` selects the number m of rows of each person in `table`. The query counts whole people
    by m first, so the order of the rows does not change the result in any digit.
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
    columns: TableColumns = NO_COLUMNS,
    people: Source | None = None,
    suppressed: Mapping[str, Collection[str | int]] | None = None,
    directory: Path | None = None,
) -> Iterator[ReleasedGroups]:
    """Open a database with the groups of a release's rows.

    Parameters
    ----------
    rows : the release, as written.
    labels : the names of the generalised columns.
    columns : the columns other than labels.
    people : a column `person` of tokens in the release's order. None means that each row is a
        person. An optional column `row` contains the row number in the source.
    suppressed : for each label column, the cells that represent a suppressed value. A row that
        contains only such cells belongs to no group.
    directory : the folder for data that does not fit in memory.

    Raises
    ------
    TamperedError : `people` and the release have different numbers of rows.

    Cost: two passes over the rows, in one thread. Two threads took half as much CPU time again.
    Memory grows with the number of groups. DuckDB spills beyond MEMORY / 2.
    """
    counted = rows if people is None else RowsWithPeople(rows, people)
    with connect(memory=MEMORY, threads=1, directory=directory) as connection:
        yield ReleasedGroups(
            counted, labels, columns, people is not None, suppressed or {}, connection
        )
