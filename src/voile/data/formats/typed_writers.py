"""Files that keep the columns' types: Parquet, Arrow, and a DuckDB file of one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from voile.data.column_types import conform, plain_schema
from voile.data.source import BATCH_ROWS, OFFLINE, identifier
from voile.data.writer import BatchWriter

GROUP_BYTES = 16 << 20
"""The rows in a row group of Parquet, or `BATCH_ROWS` of them, whichever comes first."""


class ParquetWriter(BatchWriter):
    """Parquet, compressed by zstd; dictionaries are kept.

    Small batches share a row group, because memory keeps something of each group until the end.
    Batches with dictionaries do not: together their values may exceed the range of their index
    type.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = pq.ParquetWriter(path.absolute(), schema, compression="zstd")
        self._apart = any(map(pa.types.is_dictionary, schema.types))
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._apart or self._rows >= BATCH_ROWS or self._bytes >= GROUP_BYTES:
            self._write_held()

    def close(self) -> None:
        try:
            self._write_held()
        finally:
            self._file.close()

    def _write_held(self) -> None:
        held, self._held = self._held, []
        self._rows = self._bytes = 0
        if held:
            self._file.write_table(pa.Table.from_batches(held))


class ArrowWriter(BatchWriter):
    """Arrow IPC file (Feather version 2), dictionaries written out: it allows one per column."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = plain_schema(schema)
        self._file = pa.ipc.new_file(path, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write_batch(conform(batch, self._schema))

    def close(self) -> None:
        self._file.close()


class DuckDBWriter(BatchWriter):
    """A new DuckDB file with the table "release"; dictionaries become text."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import duckdb

        self._connection = duckdb.connect(str(path.absolute()), config={**OFFLINE})
        self._schema = plain_schema(schema)
        self._table = identifier("release")
        self._connection.register("batch", self._schema.empty_table())
        self._connection.execute(f"CREATE TABLE {self._table} AS SELECT * FROM batch")

    def write(self, batch: pa.RecordBatch) -> None:
        self._connection.register("batch", pa.table(conform(batch, self._schema)))
        self._connection.execute(f"INSERT INTO {self._table} SELECT * FROM batch")

    def close(self) -> None:
        self._connection.close()
