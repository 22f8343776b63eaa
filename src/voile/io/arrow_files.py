"""Parquet and Arrow IPC files: both keep their types, and stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from voile.io.source import FileSource, unreadable

if TYPE_CHECKING:
    import duckdb


class ParquetSource(FileSource):
    """A Parquet file; DuckDB counts in it directly. Memory follows a row group of the columns."""

    def __init__(self, path: Path) -> None:
        with unreadable(path.name, "parquet"):
            schema = pq.read_schema(path)
        super().__init__(path, "parquet", schema)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        with unreadable(self.name, "parquet"), pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=rows, columns=columns):
                yield batch.select(columns)

    def relation(
        self, connection: duckdb.DuckDBPyConnection, columns: Iterable[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Let DuckDB scan the file itself, on every thread."""
        return parquet_relation(connection, [self.path])


def parquet_relation(
    connection: duckdb.DuckDBPyConnection, paths: Iterable[Path]
) -> duckdb.DuckDBPyRelation:
    """Scan Parquet files of the same columns as one."""
    return connection.read_parquet([literal_path(path) for path in paths])


def literal_path(path: Path) -> str:
    """Keep DuckDB from reading `*`, `?` and `[` in a file's name as a pattern.

    >>> literal_path(Path("visits [2024].parquet"))
    'visits [[]2024].parquet'
    """
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


class ArrowSource(FileSource):
    """An Arrow IPC file (Feather version 2) or stream, mapped into memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with unreadable(path.name, "arrow"), pa.memory_map(str(path)) as mapped:
            schema = _open(mapped)[0]
        super().__init__(path, "arrow", schema)

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        with unreadable(self.name, "arrow"), pa.memory_map(str(self.path)) as mapped:
            for batch in _open(mapped)[1]:
                yield batch.select(columns)


def _open(mapped: pa.MemoryMappedFile) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if mapped.read(6) == b"ARROW1":
        file = pa.ipc.open_file(mapped)
        return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
    mapped.seek(0)
    stream = pa.ipc.open_stream(mapped)
    return stream.schema, iter(stream)
