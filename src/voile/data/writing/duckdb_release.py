"""Release to a table of a DuckDB file. Only that table is replaced.

DuckDB lets one process write to a file. Nothing is copied: the table is written in one transaction.
A killed run leaves it either complete or unchanged. A new file is first written next to its final
path.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from voile.core.errors import RequestError, VoileError
from voile.data.column_types import conform, plain_schema
from voile.data.files.outputs import MANIFEST, check_replaceable
from voile.data.formats.databases import DuckDBSource, explain_refusal
from voile.data.opening import split_table
from voile.data.released_table import MARK, ArrowRows, TableWriter
from voile.data.source import BATCH_ROWS, OFFLINE, hash_rows, identifier, unreadable

if TYPE_CHECKING:
    import duckdb


class DuckDBTableWriter(TableWriter):
    """Write rows for a table of a DuckDB file, which `sending` publishes.

    path : the path of the file that represents the table, inside a `Staging`.
    place : "file.duckdb::table" or "file.duckdb::schema.table".
    force : whether to replace the table, if voile wrote it.
    """

    def __init__(self, path: Path, schema: pa.Schema, *, place: str, force: bool) -> None:
        database, table = split_table(place)
        _check_target(database, str(table), force=force)
        super().__init__(path, _stored_schema(schema), database.name, str(table))


@contextmanager
def sending(path: Path, place: str, *, force: bool) -> Iterator[Callable[[], None]]:
    """Write the rows of a staged table in one transaction, and yield a function that commits it."""
    database, table = split_table(place)
    _check_target(database, str(table), force=force)
    fresh = not database.exists()
    file = path.with_name(f"{path.name}.new") if fresh else database
    with closing(_attach_database(file, database.name)) as connection:
        _fill(connection, _split_name(str(table)), ArrowRows(path))
        yield lambda: _commit(connection, file, database)


def _fill(connection: duckdb.DuckDBPyConnection, named: tuple[str, str], rows: ArrowRows) -> None:
    """Create the table from its rows, and check that reading it returns the same rows."""
    schema, table = map(identifier, named)
    target = f"release.{schema}.{table}"
    connection.register("batch", rows.schema().empty_table())
    connection.execute("BEGIN")
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS release.{schema}")
    connection.execute(f"CREATE OR REPLACE TABLE {target} AS SELECT * FROM batch")
    connection.execute(f"COMMENT ON TABLE {target} IS '{MARK}'")
    for batch in rows.batches():
        connection.register("batch", pa.table(batch))
        connection.execute(f"INSERT INTO {target} SELECT * FROM batch")
    given = connection.execute(f"SELECT * FROM {target}").to_arrow_reader(BATCH_ROWS)
    same = (conform(batch, rows.schema()) for batch in given)
    if hash_rows(rows.schema(), same) != rows.fingerprint():
        raise VoileError(
            "DuckDB returns other rows than voile wrote, so voile released nothing",
            where=".".join(named),
            instead="write the release to a file",
        )


def _commit(connection: duckdb.DuckDBPyConnection, file: Path, database: Path) -> None:
    """Commit the table, and move a new database file to its path."""
    connection.execute("COMMIT")
    connection.execute("DETACH release")
    if file != database:
        if os.path.lexists(database):
            raise RequestError(
                "another program wrote the database during the run",
                where=str(database),
                instead="run again",
            )
        os.rename(file, database)


def _attach_database(file: Path, name: str) -> duckdb.DuckDBPyConnection:
    """Open a database for writing as `release`. Errors contain the known reason."""
    import duckdb

    connection = duckdb.connect(config={**OFFLINE})
    try:
        connection.execute(f"ATTACH {_quote_text(str(file.resolve()))} AS release")
    except duckdb.Error as error:
        connection.close()
        raise explain_refusal(error, name) from None
    return connection


def _check_target(database: Path, table: str, *, force: bool) -> None:
    """Raise RequestError for a table that cannot be created, or that voile did not write."""
    where = f"{database.name}::{table}"
    if database.with_name(f"{database.name}{MANIFEST}").exists():
        raise RequestError(
            "the database is itself a release, and a second table would change it",
            where=where,
            instead="write to another database file",
        )
    if not database.exists():
        return
    if not os.access(database, os.W_OK):
        raise RequestError("you have no permission to write to the database", where=where)
    named = _split_name(table)
    stored, comment = _find_table(database, *named)
    ours = comment in (MARK, None)
    if ours and stored != named:
        raise RequestError(
            "a table with this name in other capitals exists",
            where=where,
            instead=f"write {'.'.join(stored)}, or choose another name",
        )
    if comment is not None:
        check_replaceable("a table", where, is_ours=ours, force=force)


def _find_table(database: Path, schema: str, table: str) -> tuple[tuple[str, str], str | None]:
    """Return the stored schema and name of a table with its comment, or None if it is missing."""
    with unreadable(database.name, "duckdb"), closing(DuckDBSource.connect(database)) as connection:
        rows = connection.execute(
            "SELECT s.schema_name, coalesce(t.name, $2), t.comment FROM duckdb_schemas() s"
            " LEFT JOIN (SELECT schema_name, table_name AS name, coalesce(comment, '') AS comment"
            " FROM duckdb_tables() WHERE NOT internal UNION ALL SELECT schema_name, view_name, ''"
            " FROM duckdb_views() WHERE NOT internal) t"
            " ON t.schema_name = s.schema_name AND lower(t.name) = lower($2)"
            " WHERE s.database_name = current_database() AND lower(s.schema_name) = lower($1)",
            [schema, table],
        ).fetchall()
    stored, name, comment = rows[0] if rows else (schema, table, None)
    return (stored, name), comment


def _stored_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with the types that DuckDB returns.

    Raise an error for types that it lacks.
    """
    import duckdb

    with closing(duckdb.connect(config={**OFFLINE})) as connection:
        connection.register("batch", plain_schema(schema).empty_table())
        try:
            return connection.execute("SELECT * FROM batch").to_arrow_table().schema
        except duckdb.Error:
            raise RequestError(
                "a column has a type that DuckDB does not have",
                instead="drop that column in the roles",
            ) from None


def _split_name(table: str) -> tuple[str, str]:
    schema, dot, name = table.partition(".")
    return (schema, name) if dot else ("main", table)


def _quote_text(text: str) -> str:
    doubled = text.replace("'", "''")
    return f"'{doubled}'"
