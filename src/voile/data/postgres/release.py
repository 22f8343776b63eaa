"""A release in a table of PostgreSQL, and the small file for it next to its manifests.

    visits.postgresql                 database, table, and a hash of the rows
    visits.postgresql.manifest.json   as for any release
    visits.postgresql.private/        as for any release

`sending` sends the rows in one transaction, and reads them back in it. Nobody sees the table before
it is complete. If the run stops, the old table remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, VoileError, nearest
from voile.data.column_types import plain
from voile.data.files.outputs import check_replaceable
from voile.data.postgres.address import DatabaseAddress
from voile.data.postgres.session import DatabaseSession, RefusedError, literal
from voile.data.postgres.source import PostgresSource
from voile.data.postgres.table import DIGITS, KINDS, MOMENTS, find_table
from voile.data.released_table import MARK, ArrowRows, TablePointer, TableWriter, open_table
from voile.data.source import Source, hash_rows, identifier

LONGEST_NAME = 63  # bytes; PostgreSQL truncates longer names
PATIENCE = "60s"  # how long to wait for readers of the table that is replaced


def open_released(path: Path) -> Source:
    """Open the table behind a `.postgresql` file. See `open_table`."""
    return open_table(path, lambda pointer: PostgresSource(_address(pointer)))


def _address(pointer: TablePointer) -> DatabaseAddress:
    address = DatabaseAddress.parse(pointer.database)
    if address is None:
        raise SourceError(
            "the pointer file does not contain a database",
            where="postgresql file",
            instead="write the release again",
        )
    return DatabaseAddress(address.url, pointer.table)


class PostgresWriter(TableWriter):
    """Write rows for a new table of PostgreSQL, which `sending` sends.

    The writer first checks that the schema exists, and that the role may create a table in it.

    path : the path of the file that represents the table, inside a `Staging`.
    address : the address of the table. Without a schema, it is the first of the search path.
    force : whether to replace an existing table.
    """

    def __init__(
        self, path: Path, schema: pa.Schema, *, address: DatabaseAddress, force: bool
    ) -> None:
        kept = pa.schema([_stored_field(field) for field in schema])
        with DatabaseSession(address, write=True) as session:
            target = _target(session, force=force)
            with _replacing(address.name):
                if force and session.run(_KIND.format(*map(literal, target))):
                    session.run(f"LOCK TABLE {'.'.join(map(identifier, target))} NOWAIT")
        super().__init__(path, kept, address.url, ".".join(target))


@contextmanager
def sending(path: Path, *, force: bool) -> Iterator[Callable[[], None]]:
    """Send a staged table's rows in one transaction, and yield the function that commits it."""
    pointer = TablePointer.read_file(path)
    with DatabaseSession(_address(pointer), write=True) as session:
        schema, table = _target(session, force=force)
        staged = f"voile-{token_hex(8)}"
        rows = ArrowRows(path)
        shown = [f"{identifier(name)} {_sql(kind)}" for name, kind in rows.columns.items()]
        place = f"{identifier(schema)}.{identifier(staged)}"
        session.run(f"CREATE TABLE {place} ({', '.join(shown)})")
        reader = pa.RecordBatchReader.from_batches(rows.schema(), rows.batches())
        session.ingest(schema, staged, reader)
        _check_read_back(session, f"{schema}.{staged}", pointer)
        session.run(f"COMMENT ON TABLE {place} IS {literal(MARK)}")
        with _replacing(session.address.name):
            if force:
                session.set({"lock_timeout": PATIENCE})
                session.run(f"DROP TABLE IF EXISTS {identifier(schema)}.{identifier(table)}")
            session.run(f"ALTER TABLE {place} RENAME TO {identifier(table)}")
        yield session.commit


def _check_read_back(session: DatabaseSession, staged: str, pointer: TablePointer) -> None:
    table = find_table(session, staged)
    if hash_rows(table.schema, table.rows(session, list(table.columns))) != pointer.sha256:
        raise VoileError(
            "PostgreSQL returns other rows than voile wrote, so voile released nothing",
            where=_address(pointer).name,
            instead="write the release to a file",
        )


def _target(session: DatabaseSession, *, force: bool) -> tuple[str, str]:
    """Return the schema and the name of a new table after checking that it can be created."""
    asked, where = session.address.table, session.address.name
    if asked is None:
        raise RequestError(
            "the address lacks a table", where=where, instead="write DATABASE::table"
        )
    if len(asked.rpartition(".")[2].encode()) > LONGEST_NAME:
        raise RequestError(
            f"the table's name is longer than {LONGEST_NAME} bytes",
            where=where,
            instead="use a shorter name",
        )
    ((current,),) = session.run("SELECT current_schema()::text")
    schema, _, table = asked.partition(".") if "." in asked else (current or "", "", asked)
    schemas = dict(session.run(_SCHEMAS))
    if schema not in schemas:
        raise RequestError(
            f"the database has no schema {schema}", where=where, instead=nearest(schema, schemas)
        )
    if not schemas[schema]:
        raise RequestError(
            f"your database role may not create tables in schema {schema}",
            where=where,
            instead=f"ask the owner for CREATE on {schema}, or use another schema",
        )
    found = session.run(_KIND.format(literal(schema), literal(table)))
    if found:
        check_replaceable("a table", where, is_ours=found == [("r", MARK)], force=force)
    return schema, table


_SCHEMAS = """
SELECT nspname::text, has_schema_privilege(oid, 'CREATE') FROM pg_namespace
WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY nspname"""

_KIND = """
SELECT relkind::text, obj_description(pg_class.oid, 'pg_class')
FROM pg_class JOIN pg_namespace n ON n.oid = relnamespace
WHERE nspname = {} AND relname = {}"""

_NOT_REPLACED = {
    "2BP01": ("other objects depend on the table that is there", "drop them first"),
    "42501": ("the table that is there belongs to another role", "use another name"),
    "42P07": ("is there already", "replace it with --force"),
    "55P03": ("is being read, or is the source itself", "use another name, or try later"),
}
"""The message for each SQLSTATE when a table cannot replace another."""


@contextmanager
def _replacing(name: str) -> Iterator[None]:
    try:
        yield
    except RefusedError as error:
        if error.code not in _NOT_REPLACED:
            raise
        what, instead = _NOT_REPLACED[error.code]
        raise RequestError(what, where=name, instead=instead) from None


def _stored_field(field: pa.Field) -> pa.Field:
    """Return a column with the type that the server returns. Raise an error for other types."""
    if len(field.name.encode()) > LONGEST_NAME or not field.name:
        raise RequestError(
            f"the column's name must have 1 to {LONGEST_NAME} bytes in PostgreSQL",
            where=f"column {field.name}",
            instead="rename the column",
        )
    kind = plain(field.type)
    if pa.types.is_timestamp(kind):
        kind = MOMENTS["timestamp" if kind.tz is None else "timestamptz"]
    elif pa.types.is_time(kind):
        kind = KINDS["time"]
    elif pa.types.is_decimal(kind) and 0 <= kind.scale <= kind.precision <= DIGITS:
        kind = pa.decimal128(kind.precision, kind.scale)
    kind = _WIDER.get(kind, kind)
    if kind not in _SQL and not pa.types.is_decimal128(kind):
        raise RequestError(
            f"column {field.name} is {kind}, which voile does not write to PostgreSQL",
            instead="drop the column",
        )
    return pa.field(field.name, kind)


_WIDER = {
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
}

_SQL = {
    pa.string(): "text",
    **{kind: name for name, kind in {**KINDS, **MOMENTS}.items()},
}


def _sql(kind: pa.DataType) -> str:
    if pa.types.is_decimal128(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    return _SQL[kind]
