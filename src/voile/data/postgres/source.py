"""Tables of PostgreSQL, counted in the server and streamed from one state of the database."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.postgres.address import DatabaseAddress
from voile.data.postgres.session import DatabaseSession
from voile.data.postgres.table import find_table
from voile.data.source import Source, hash_rows, identifier


class PostgresSource(Source):
    """A table, view, or partitioned table of PostgreSQL.

    Each read sees the database at the time of opening. A session holds that snapshot as long as the
    source exists, and each read uses another session that shares it. Rows are in table order. The
    server sorts the rows of views and foreign tables by all their values.

    Memory: one batch. Opening reads columns of dates, times and numerics once. A column with
    infinity, or with values that fit no type of voile, is text.
    """

    def __init__(self, address: DatabaseAddress) -> None:
        self._address = address
        keeper = DatabaseSession(address)
        self._end = weakref.finalize(self, keeper.close)
        try:
            self._table = find_table(keeper, address.table)
            ((self._snapshot,),) = keeper.run("SELECT pg_export_snapshot()")
        except BaseException:
            self._end()
            raise
        super().__init__(address.name, "postgresql", self._table.schema, self._table.notes)

    def schema(self, columns: Iterable[str] | None = None) -> pa.Schema:
        """Return the Arrow schema of `columns`.

        Raise RequestError for a column of an unreadable type.
        """
        names = list(self.columns if columns is None else columns)
        for name in names:
            if name in self._table.unread:
                raise RequestError(
                    f"the column has the type {self._table.unread[name]}, which voile does not "
                    "read",
                    where=f"{self.name}, column {name}",
                    instead="convert the column to text in a view",
                )
        return super().schema(names)

    def _session(self) -> DatabaseSession:
        return DatabaseSession(self._address, snapshot=self._snapshot)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        with self._session() as session:
            yield from self._table.rows(session, columns)

    def _answer(self, sql: str, columns: list[str], answer: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Run `sql` in PostgreSQL, and stream only its result."""
        shown = ", ".join(map(_cast_column, answer))
        query = (
            f"WITH source AS ({self._table.select(columns)}) SELECT {shown} FROM ({sql}) AS answer"
        )
        with self._session() as session:
            yield from session.stream(query)

    def fingerprint(self) -> str:
        """Return a hash of all rows in their order, as a stream."""
        return hash_rows(self.schema(), self.batches())


def _cast_column(field: pa.Field) -> str:
    """Return the SQL of a result column for transfer. A sum of counts becomes a bigint again."""
    name = identifier(field.name)
    return f"CAST({name} AS bigint) AS {name}" if pa.types.is_int64(field.type) else name
