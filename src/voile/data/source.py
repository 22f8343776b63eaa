"""A source: named columns that can be streamed, counted and fingerprinted."""

from __future__ import annotations

import errno
import hashlib
import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, nearest
from voile.data.column_types import check_dates, conform, plain
from voile.data.stores.path import StorePath, locate_file
from voile.data.writer import TextDialect

if TYPE_CHECKING:
    import duckdb

BATCH_ROWS = 65_536
OFFLINE: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
"""The settings of every DuckDB connection, which prevent downloads of extensions."""


class Source(ABC):
    """Rows of named columns, which can be read repeatedly, always in the same order.

    Attributes
    ----------
    name : its name in messages: the name of a file or "pandas frame", never contents.
    kind : the format: "csv", "parquet", "pandas", ...
    columns : name -> Arrow type, in the order of the source. A dictionary has the type of its
        values. Text is `string`, and so is a column of nulls only.
    notes : the findings of opening, as sentences: dialect, encoding.
    dialect : the dialect of a delimited text file, which a release keeps. None for any other
        source.
    """

    dialect: TextDialect | None = None

    def __init__(
        self, name: str, kind: str, columns: Iterable[pa.Field], notes: Sequence[str] = ()
    ) -> None:
        self.name = name
        self.kind = kind
        fields = list(columns)
        distinct_names([field.name for field in fields], where=name)
        self.columns: dict[str, pa.DataType] = {f.name: plain(f.type) for f in fields}
        self.notes = tuple(notes)
        self._stopped: Exception | None = None

    @abstractmethod
    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Stream `columns` in batches of about `rows` rows.

        Types must match, but layouts may differ.
        """

    def about_rows(self) -> int | None:
        """Return a quick estimate of the number of rows, or None if that requires reading."""
        return None

    def has_rows(self) -> bool:
        """Return False if the source is known to have only column names, without reading it."""
        return self.about_rows() != 0

    def pieces(self, columns: Sequence[str], directory: Path, size: int) -> Iterator[SourcePiece]:
        """Yield consecutive pieces of the rows, for other processes to read.

        directory : an existing folder for temporary files, which only its owner may open.
        size : approximate size of a piece in bytes. A file or a row group is not split.
        """
        raise RequestError(
            f"Spark's workers read Parquet files and tables of Spark, and no {self.kind}",
            where=self.name,
            instead="write the source as Parquet",
        )

    def folder_columns(self) -> Collection[str]:
        """Return the columns with values from the names of the source's folders."""
        return ()

    @property
    def origin(self) -> Source:
        """The source as it was opened. This source may be a part of it."""
        return self

    @abstractmethod
    def fingerprint(self) -> str:
        """Return the SHA-256 of all bytes, as a stream in O(bytes)."""

    def without_others(self, columns: Container[str]) -> Source:
        """Return a source in memory with only these columns. A file is returned unchanged."""
        return self

    def batches(
        self, columns: Iterable[str] | None = None, *, batch_rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Stream rows in the order of the source, in batches of at most `batch_rows` rows.

        Memory: one batch, unless the format states otherwise.
        """
        schema = self.schema(columns)
        for batch in self._read_batches(schema.names, batch_rows):
            whole = conform(batch, schema)
            check_dates(whole, where=self.name)
            for start in range(0, whole.num_rows, batch_rows):
                yield whole.slice(start, batch_rows)

    def schema(self, columns: Iterable[str] | None = None) -> pa.Schema:
        """Return the Arrow schema of `columns` in the given order, or of all columns."""
        names = list(self.columns if columns is None else columns)
        for name in names:
            if name not in self.columns:
                raise RequestError(
                    f"there is no column {name}",
                    where=self.name,
                    instead=nearest(name, self.columns),
                )
        return pa.schema([(name, self.columns[name]) for name in names])

    def read(self, columns: Iterable[str] | None = None) -> pa.Table:
        """Return all rows at once, in source order."""
        schema = self.schema(columns)
        return pa.Table.from_batches(self.batches(schema.names), schema)

    def relation(
        self, connection: duckdb.DuckDBPyConnection, columns: Iterable[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return `columns` as a DuckDB relation for one query. Rows can be streamed only once."""
        schema = self.schema(columns)
        return self._stream_batches(connection, schema, self.batches(schema.names))

    def _stream_batches(
        self,
        connection: duckdb.DuckDBPyConnection,
        schema: pa.Schema,
        batches: Iterator[pa.RecordBatch],
    ) -> duckdb.DuckDBPyRelation:
        rows = self._watch_batches(batches)
        return connection.from_arrow(pa.RecordBatchReader.from_batches(schema, rows))

    def _watch_batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Stream batches, and store the error that stops them. DuckDB keeps only its message."""
        self._stopped = None
        try:
            yield from batches
        except Exception as error:
            self._stopped = error
            raise

    def tabulate(
        self,
        connection: duckdb.DuckDBPyConnection,
        sql: str,
        *,
        columns: Iterable[str],
        answer: pa.Schema,
        into: str,
    ) -> None:
        """Run a SELECT in the engine of the data, and store its result as the table `into`.

        Parameters
        ----------
        sql : a query that refers to the data as `source` and reads only `columns`, in SQL that
            DuckDB, SQLite, PostgreSQL and Spark all support.
        answer : the columns and types of the result.
        """
        with self._explain_stop():
            rows = self._answer(sql, self.schema(columns).names, answer)
            if rows is None:
                counted = self.relation(connection, columns).query("source", sql)
            else:
                fitting = (conform(batch, answer) for batch in rows)
                counted = self._stream_batches(connection, answer, fitting)
            counted.create(into)

    def select(
        self, connection: duckdb.DuckDBPyConnection, sql: str, *, columns: Iterable[str], into: str
    ) -> None:
        """Run a SELECT in DuckDB over the rows, named `source`, and store its result as `into`.

        Unlike `tabulate`, it always reads the rows themselves.
        """
        with self._explain_stop():
            self.relation(connection, columns).query("source", sql).create(into)

    @contextmanager
    def _explain_stop(self) -> Iterator[None]:
        """Raise the original error that stopped the rows. DuckDB keeps only its message."""
        import duckdb

        self._stopped = None
        try:
            with unreadable(self.name, self.kind):
                yield
        except (SourceError, duckdb.Error) as error:
            raise self._stopped or error from None

    def _answer(
        self, sql: str, columns: list[str], answer: pa.Schema
    ) -> Iterator[pa.RecordBatch] | None:
        """Run the `sql` of `tabulate`. Return None if the source has no engine of its own."""
        return None


@dataclass(frozen=True)
class SourcePiece:
    """Consecutive rows of a Parquet file, described by plain data that any process can open.

    file, groups : the absolute path, the first row group, and the one after the last.
    rows, size : the number of rows, and their approximate size in memory in bytes.
    state : the result of `state_of` for the file.
    keys : one row with the values of the file's folders, or None.
    """

    file: str
    groups: tuple[int, int]
    rows: int
    size: int
    state: tuple[int, int | str]
    keys: pa.RecordBatch | None = None

    def check_unchanged(self) -> None:
        file = locate_file(self.file)
        if state_of(file) != self.state:
            raise SourceError(
                "the file changed while voile read it",
                where=file.name,
                instead="wait, and run again",
            )


def state_of(file: Path | StorePath) -> tuple[int, int | str]:
    """Return facts that change with a file: its size, and its time or tag."""
    if isinstance(file, StorePath):
        return file.state()
    found = file.stat()
    return found.st_size, found.st_mtime_ns


class FileSource(Source):
    def __init__(
        self, path: Path, kind: str, columns: Iterable[pa.Field], notes: Sequence[str] = ()
    ) -> None:
        super().__init__(path.name, kind, columns, notes)
        self.path = path

    def fingerprint(self) -> str:
        """Return a hash of the file, including the write-ahead log of a database."""
        return hash_file(self.path)


class TableSource(Source):
    """A source in memory, as an Arrow table."""

    def __init__(self, table: pa.Table, name: str, kind: str, notes: Sequence[str] = ()) -> None:
        super().__init__(name, kind, table.schema, notes)
        self.table = table

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self.table.select(columns).to_batches(max_chunksize=rows)

    def about_rows(self) -> int:
        """Return the exact number of rows."""
        return int(self.table.num_rows)

    def without_others(self, columns: Container[str]) -> Source:
        """Return the source with only these columns."""
        kept = [name for name in self.table.column_names if name in columns]
        return TableSource(self.table.select(kept), self.name, self.kind, self.notes)

    def fingerprint(self) -> str:
        """Return a hash of the rows, which does not depend on slices or chunks."""
        schema = self.schema()
        return hash_rows(schema, (conform(batch, schema) for batch in self.table.to_batches()))


class _HashedFile:
    """A file object that only hashes its bytes."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...


def hash_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """Return the SHA-256 of rows as an uncompressed Arrow IPC stream with batches of equal size.

    `take` copies every value, and writes zero under each null. Equal rows in the same order
    therefore have the same hash. Memory: one batch.
    """
    sink = _HashedFile()
    with pa.ipc.new_stream(pa.PythonFile(sink, "w"), schema) as writer:
        for table in evenly(batches, BATCH_ROWS):
            rows = pa.array(range(table.num_rows), pa.int64())
            writer.write_batch(table.take(rows).combine_chunks().to_batches()[0])
    return sink.digest.hexdigest()


def evenly(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Regroup batches so that all but the last have exactly `rows` rows."""
    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        waiting.append(batch)
        held += batch.num_rows
        while held >= rows:
            whole = pa.Table.from_batches(waiting)
            yield whole.slice(0, rows)
            waiting = whole.slice(rows).to_batches()
            held -= rows
    if held:
        yield pa.Table.from_batches(waiting)


def hash_file(path: Path | StorePath) -> str:
    """Return the SHA-256 of a file, including the write-ahead log of a database."""
    if isinstance(path, StorePath):
        return path.sha256()
    digest = hashlib.sha256()
    for part in (path, Path(f"{path}.wal"), Path(f"{path}-wal")):
        if part.exists():
            with part.open("rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
    return digest.hexdigest()


def without_rows(where: str) -> SourceError:
    return SourceError(
        "the source has column names and no rows", where=where, instead="give a source with rows"
    )


def distinct_names(names: Sequence[str], *, where: str, first_row: bool = False) -> None:
    """Raise RequestError for two columns of the same name. Like DuckDB, it ignores case.

    Names from the first row of a file are reported by position, because the row may be personal
    data.
    """
    repeated = [name for name, n in Counter(n.casefold() for n in names).items() if n > 1]
    if repeated:
        places = [i for i, name in enumerate(names, 1) if name.casefold() == repeated[0]]
        same = " and ".join(str(i) if first_row else names[i - 1] for i in places)
        same = f"columns {same} of row 1" if first_row else same
        raise RequestError(
            f"two columns have the same name: {same}",
            where=where,
            instead="rename one"
            + (", or add a row of names above it if it is a record" * first_row),
        )


def identifier(name: str) -> str:
    """Quote a name for SQL.

    >>> print(identifier('the "old" zip'))
    "the ""old"" zip"
    """
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def unreadable(name: str, kind: str) -> Iterator[None]:
    """Report in one sentence that a file cannot be read, without quoting its contents.

    The messages of engines quote rows, so they are dropped. Errors of a full disk or memory pass
    through, because the file is not the cause. If Arrow lacks memory, the cause may be a wrong
    length in a damaged file.
    """
    damaged = SourceError(
        f"the {kind} file is damaged or truncated", where=name, instead="copy the file again"
    )
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        if error.errno is not None:
            raise SourceError(f"the file cannot be read: {error.strerror}", where=name) from None
        raise damaged from None
    except pa.ArrowCancelled:
        raise KeyboardInterrupt from None
    except pa.ArrowMemoryError:
        raise SourceError(
            "reading the file needs more memory than the machine has",
            where=name,
            instead="copy the file again if it is damaged, or write it again in smaller batches",
        ) from None
    except (pa.ArrowException, UnicodeDecodeError, EOFError):
        raise damaged from None
    except _engine_errors() as error:
        if type(error).__name__ == "OutOfMemoryException" or "space left" in str(error):
            raise
        raise damaged from None


def _engine_errors() -> tuple[type[Exception], ...]:
    """Return the error types of DuckDB, or none if it is not loaded."""
    engine = sys.modules.get("duckdb")
    return (engine.Error,) if engine else ()
