"""Writers of files that preserve column types: Parquet, Arrow, and DuckDB with one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from voile.data.column_types import conform, plain_schema
from voile.data.source import BATCH_ROWS, OFFLINE, identifier
from voile.data.writer import BatchWriter

GROUP_BYTES = 16 << 20
"""The size of a Parquet row group in bytes. A group ends earlier after `BATCH_ROWS` rows."""


class ParquetWriter(BatchWriter):
    """Write Parquet, compressed with zstd. Dictionaries are preserved.

    Small batches share a row group, because each group uses memory until the end. Batches with
    dictionaries do not share one: together, their values may exceed the range of the index type.
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
    """Write an Arrow IPC file (Feather version 2). It allows one dictionary per column.

    Dictionaries are therefore written as plain values.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = plain_schema(schema)
        self._file = pa.ipc.new_file(path, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._file.write_batch(conform(batch, self._schema))

    def close(self) -> None:
        self._file.close()


class DuckDBWriter(BatchWriter):
    """Write a new DuckDB file with the table "release". Dictionaries become text."""

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
