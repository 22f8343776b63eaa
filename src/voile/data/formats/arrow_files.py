"""Parquet and Arrow IPC files. Both preserve types and can be streamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from voile.core.errors import SourceError
from voile.data.source import FileSource, Source, SourcePiece, hash_file, state_of, unreadable
from voile.data.stores.path import StorePath

if TYPE_CHECKING:
    import duckdb


class ParquetSource(Source):
    """A Parquet file. DuckDB counts in it directly. Memory: one row group of the columns.

    A file in a store or on the web is read one row group at a time, with only the requested
    columns.
    """

    groups: Sequence[int] | None = None
    """The row groups to read. None reads all row groups."""

    def __init__(self, path: Path | StorePath) -> None:
        self.path = path
        with _open_parquet(path) as file:
            super().__init__(path.name, "parquet", file.schema_arrow)

    def about_rows(self) -> int:
        """Return the number of rows from the footer of the file."""
        with _open_parquet(self.path) as file:
            return int(file.metadata.num_rows)

    def fingerprint(self) -> str:
        """Hash the file's bytes."""
        return hash_file(self.path)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        with _open_parquet(self.path) as file:
            for group in self.groups or range(file.num_row_groups):
                # one group at a time: Arrow buffers all requested groups
                for batch in file.iter_batches(rows, [group], columns):
                    batch.validate(full=True)
                    yield batch.select(columns)

    def pieces(self, columns: Sequence[str], directory: Path, size: int) -> Iterator[SourcePiece]:
        """Yield pieces of several row groups each, as many as fill a piece."""
        path = self.path if isinstance(self.path, StorePath) else self.path.absolute()
        address = path.address if isinstance(path, StorePath) else str(path)
        state = state_of(path)
        with _open_parquet(path) as file:
            footer = file.metadata
        groups = [footer.row_group(i) for i in range(footer.num_row_groups)]
        start = held = 0
        for i, group in enumerate(groups, 1):
            held += group.total_byte_size
            if held >= size or i == len(groups):
                rows = sum(one.num_rows for one in groups[start:i])
                yield SourcePiece(address, (start, i), rows, held, state)
                start, held = i, 0

    def relation(
        self, connection: duckdb.DuckDBPyConnection, columns: Iterable[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return a relation.

        DuckDB scans a local file on all threads, and other files are streamed.
        """
        if isinstance(self.path, StorePath):
            return super().relation(connection, columns)
        return parquet_relation(connection, [self.path])


@contextmanager
def _open_parquet(path: Path | StorePath) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file. Errors are reported in one sentence, also while it is open."""
    if isinstance(path, StorePath):
        with (
            unreadable(path.name, "parquet"),
            path.failures(),
            path.open_input() as raw,
            pq.ParquetFile(raw, pre_buffer=True) as file,
        ):
            yield file
    else:
        with unreadable(path.name, "parquet"), pq.ParquetFile(path.absolute()) as file:
            yield file


def parquet_relation(
    connection: duckdb.DuckDBPyConnection, paths: Iterable[Path]
) -> duckdb.DuckDBPyRelation:
    """Scan several Parquet files with the same columns as one."""
    files = [literal_path(path) for path in paths]
    return connection.read_parquet(files, hive_partitioning=False)


def literal_path(path: Path) -> str:
    """Escape `*`, `?` and `[`, which DuckDB would read as a pattern in a file name.

    >>> literal_path(Path("visits [2024].parquet"))
    'visits [[]2024].parquet'
    """
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


class ArrowSource(FileSource):
    """An Arrow IPC file (Feather version 2) or stream, mapped into memory.

    Arrow checks the metadata when it opens a file, but not the offsets, indices and lengths in a
    batch. Without a check, 39 of 1,500 damaged files ended the process (35 without mapping). Each
    batch is therefore checked with `validate(full=True)` before any other use. None of 21,000
    damaged files ended the process then: files and streams, dictionaries, nested types, compressed.
    The check costs 20 ns a row.
    """

    def __init__(self, path: Path) -> None:
        with unreadable(path.name, "arrow"), pa.memory_map(str(path)) as mapped:
            super().__init__(path, "arrow", _open(mapped, path.name)[0])

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        with unreadable(self.name, "arrow"), pa.memory_map(str(self.path)) as mapped:
            for batch in _open(mapped, self.name)[1]:
                batch.validate(full=True)
                yield batch.select(columns)


def _open(mapped: pa.MemoryMappedFile, name: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    head = mapped.read(6)
    if head == b"ARROW1":
        file = pa.ipc.open_file(mapped)
        return file.schema, (file.get_batch(i) for i in range(file.num_record_batches))
    if head.startswith(b"FEA1"):
        raise SourceError(
            "the file has the format Feather version 1",
            where=name,
            instead="save the file as Feather version 2",
        )
    mapped.seek(0)
    stream = pa.ipc.open_stream(mapped)
    return stream.schema, iter(stream)
