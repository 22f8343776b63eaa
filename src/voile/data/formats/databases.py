"""Tables of DuckDB and SQLite files, opened for reading only."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, nearest
from voile.data.formats.kinds import column
from voile.data.source import BATCH_ROWS, OFFLINE, FileSource, hash_rows, identifier, unreadable

if TYPE_CHECKING:
    import duckdb


class DuckDBSource(FileSource):
    """A table or view of a DuckDB file. Counts run in DuckDB."""

    def __init__(self, path: Path, *, table: str | None = None) -> None:
        with unreadable(path.name, "duckdb"), closing(self.connect(path)) as connection:
            found = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL"
            ).fetchall()
            tables = {name if s == "main" else f"{s}.{name}": (s, name) for s, name in found}
            schema, name = tables[choose_table(table, tables, where=path.name)]
            ((catalog,),) = connection.execute("SELECT current_database()").fetchall()
            self._table = f"{identifier(schema)}.{identifier(name)}"
            self._place = (
                f"{identifier(catalog)}.{self._table}"  # a schema may have the name of the file
            )
            fields = connection.execute(f"SELECT * FROM {self._place} LIMIT 0").to_arrow_table()
        super().__init__(path, "duckdb", fields.schema)

    @staticmethod
    def connect(path: Path) -> duckdb.DuckDBPyConnection:
        """Open a file for reading only."""
        import duckdb

        try:
            return duckdb.connect(str(path.absolute()), read_only=True, config={**OFFLINE})
        except duckdb.Error as error:
            raise explain_refusal(error, path.name) from None

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        names = ", ".join(map(identifier, columns))
        with unreadable(self.name, "duckdb"), closing(self.connect(self.path)) as connection:
            answer = connection.execute(f"SELECT {names} FROM {self._place}")
            yield from answer.to_arrow_reader(rows)

    def fingerprint(self) -> str:
        """Return a hash of the rows, because the file changes with any of its tables."""
        return hash_rows(self.schema(), self.batches())

    def relation(
        self, connection: duckdb.DuckDBPyConnection, columns: Iterable[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Attach the file for reading only, and return its table."""
        path = str(self.path.resolve())
        alias = identifier("source_" + hashlib.sha256(path.encode()).hexdigest()[:16])
        quoted = path.replace("'", "''")
        connection.execute(f"ATTACH IF NOT EXISTS '{quoted}' AS {alias} (READ_ONLY)")
        return connection.sql(f"SELECT * FROM {alias}.{self._table}")


def explain_refusal(error: duckdb.Error, name: str) -> Exception:
    """Return a SourceError with a known reason why DuckDB cannot open a file, or the same error."""
    for words, (what, instead) in _DUCKDB_REFUSALS.items():
        if words in str(error):
            return SourceError(what, where=name, instead=instead)
    return error


_DUCKDB_REFUSALS = {
    "handle conflict": ("is being read by this command", "write to another file"),
    "lock on file": ("is being written elsewhere", "close it there first"),
    "different configuration": ("is being written elsewhere", "close it there first"),
    "version number": ("was written by another version of DuckDB", "export it to Parquet there"),
}


class SQLiteSource(FileSource):
    """A table or view of a SQLite file. Counts run in SQLite, which compares bytes.

    Each cell in SQLite has its own type, so the table is read once when it is opened. A column of
    integers is int64, of numbers double, and of blobs binary. Any other column is text.
    """

    def __init__(self, path: Path, *, table: str | None = None) -> None:
        self.path = path
        with sqlite_failures(path.name), closing(self._connect()) as connection:
            tables = [
                name
                for (name,) in connection.execute(
                    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')"
                    " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
                )
            ]
            self._table = identifier(choose_table(table, tables, where=path.name))
            names = [
                row[0] for row in connection.execute(f"SELECT * FROM {self._table}").description
            ]
            kinds = _stored_kinds(connection, self._table, names)
        super().__init__(path, "sqlite", pa.schema(list(zip(names, kinds, strict=True))))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{quote(str(self.path.resolve()))}?mode=ro", uri=True)

    def _select(self, columns: Iterable[str]) -> str:
        """Return the SELECT for `columns` in their Arrow types, with comparison by bytes."""
        shown = [
            f"CAST({identifier(name)} AS TEXT) COLLATE BINARY AS {identifier(name)}"
            if pa.types.is_string(self.columns[name])
            else identifier(name)
            for name in columns
        ]
        return f"SELECT {', '.join(shown)} FROM {self._table}"

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self._run(self._select(columns), self.schema(columns), rows)

    def _answer(self, sql: str, columns: list[str], answer: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Run `sql` in SQLite over a temporary view."""
        view = f"CREATE TEMP VIEW source AS {self._select(columns)}"
        yield from self._run(sql, answer, BATCH_ROWS, prepare=view)

    def _run(
        self, sql: str, schema: pa.Schema, rows: int, *, prepare: str = ""
    ) -> Iterator[pa.RecordBatch]:
        with sqlite_failures(self.name), closing(self._connect()) as connection:
            connection.executescript(prepare)
            cursor = connection.execute(sql)
            while batch := cursor.fetchmany(rows):
                cells = zip(zip(*batch, strict=True), schema.types, strict=True)
                yield pa.RecordBatch.from_arrays([column(c, k) for c, k in cells], schema=schema)


def choose_table(table: str | None, tables: Iterable[str], *, where: str) -> str:
    """Return the requested table, or the only one if no name is given."""
    names = list(tables)
    if not names:
        raise RequestError(
            "the database contains no table",
            where=where,
            instead="choose a database with a table",
        )
    if table is None and len(names) == 1:
        return names[0]
    if table is None:
        raise RequestError(
            "the database has several tables", where=where, instead=nearest("", names)
        )
    if table not in names:
        raise RequestError(
            f"the database has no table {table}", where=where, instead=nearest(table, names)
        )
    return table


def _stored_kinds(
    connection: sqlite3.Connection, table: str, names: list[str]
) -> list[pa.DataType]:
    """Return the Arrow type of each column from the types of its cells, in one pass."""
    shown = ", ".join(f"group_concat(DISTINCT typeof({identifier(name)}))" for name in names)
    row = connection.execute(f"SELECT {shown} FROM {table}").fetchone()
    return [_stored_kind(set((seen or "null").split(",")) - {"null"}) for seen in row]


def _stored_kind(seen: set[str]) -> pa.DataType:
    if seen == {"integer"}:
        return pa.int64()
    if seen and seen <= {"integer", "real"}:
        return pa.float64()
    return pa.binary() if seen == {"blob"} else pa.string()


@contextmanager
def sqlite_failures(name: str) -> Iterator[None]:
    """Report in one sentence that a SQLite file cannot be read, without quoting its contents."""
    try:
        yield
    except sqlite3.Error:
        raise SourceError(
            "the SQLite file is damaged or truncated", where=name, instead="copy the file again"
        ) from None
