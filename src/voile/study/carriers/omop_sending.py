"""Send released OMOP tables to a schema of PostgreSQL, all in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.files.outputs import check_replaceable
from voile.data.postgres.address import DatabaseAddress
from voile.data.postgres.session import DatabaseSession, literal
from voile.data.released_table import MARK
from voile.data.source import identifier
from voile.study.carriers.omop_rules import schema_of

_SQL = {
    pa.int64(): "bigint",
    pa.string(): "text",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.float64(): "double precision",
}
_KIND = """
    SELECT c.relkind::text, obj_description(c.oid, 'pg_class')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = {} AND c.relname = {}
"""


@contextmanager
def send(to: str, folder: Path, *, force: bool) -> Iterator[Callable[[], None]]:
    """Send every table of a folder, and yield a function that commits them all.

    Raises
    ------
    RequestError : there is no such schema, or it has a table that voile did not write.
    """
    address = DatabaseAddress.parse(to)
    if address is None or address.table is None:
        raise RequestError(
            "to names no schema", where="[export]", instead="postgresql://host/database::schema"
        )
    with DatabaseSession(address, write=True) as session:
        schema = address.table
        if not session.run(f"SELECT 1 FROM pg_namespace WHERE nspname = {literal(schema)}"):
            raise RequestError(f"there is no schema {schema}", where=address.database)
        for path in sorted(folder.iterdir()):
            _send(session, schema, path, force=force)
        yield session.commit


def _send(session: DatabaseSession, schema: str, path: Path, *, force: bool) -> None:
    table, kinds = path.stem, schema_of(path.stem)
    place = f"{identifier(schema)}.{identifier(table)}"
    found = session.run(_KIND.format(literal(schema), literal(table)))
    if found:
        where = f"{schema}.{table}"
        check_replaceable("a table", where, is_ours=found == [("r", MARK)], force=force)
        session.run(f"DROP TABLE {place}")
    columns = ", ".join(f"{identifier(one.name)} {_SQL[one.type]}" for one in kinds)
    session.run(f"CREATE TABLE {place} ({columns})")
    session.run(f"COMMENT ON TABLE {place} IS {literal(MARK)}")
    rows = (
        pa.RecordBatch.from_arrays(batch.cast(kinds).columns, schema=kinds)
        for batch in open_source(path).batches(kinds.names)
        if len(batch)
    )
    session.ingest(schema, table, pa.RecordBatchReader.from_batches(kinds, rows))
