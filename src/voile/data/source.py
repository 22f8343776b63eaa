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
"""The settings of every DuckDB connection. It downloads no extensions."""


class Source(ABC):
    """Read rows of named columns, as often as asked, always in the same order.

    Attributes
    ----------
    name : its name in messages: a file's name or "pandas frame", never contents.
    kind : the format: "csv", "parquet", "pandas", ...
    columns : name -> Arrow type, in source order. Dictionaries show the type of their values,
        text is `string`, a column of nulls alone is `string`.
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
        """Stream `columns` in batches of about `rows` rows, of any layout of the right types."""

    def about_rows(self) -> int | None:
        """Estimate the number of rows at once, to show progress; None where that takes reading."""
        return None

    def has_rows(self) -> bool:
        """Return False if it has names of columns alone, and that is known without reading it."""
        return self.about_rows() != 0

    def pieces(self, columns: Sequence[str], directory: Path, size: int) -> Iterator[SourcePiece]:
        """Yield pieces that hold these rows one after the other, for other processes to read.

        directory : an existing folder, open to its owner alone, for temporary files.
        size : bytes of a piece, about; a file, or a row group, is not cut.
        """
        raise RequestError(
            f"Spark's workers read Parquet files and tables of Spark, and no {self.kind}",
            where=self.name,
            instead="write the source as Parquet",
        )

    def folder_columns(self) -> Collection[str]:
        """Return the columns whose values are the names of the source's folders."""
        return ()

    @property
    def origin(self) -> Source:
        """The source as it was opened, of which this may be a part."""
        return self

    @abstractmethod
    def fingerprint(self) -> str:
        """Hash all bytes with SHA-256, streaming; O(bytes)."""

    def without_others(self, columns: Container[str]) -> Source:
        """Return the source with these columns alone if it is in memory; a file stays whole."""
        return self

    def batches(
        self, columns: Iterable[str] | None = None, *, batch_rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Stream rows in source order, in batches of at most `batch_rows` rows.

        Memory follows the batch, except for formats with another statement.
        """
        schema = self.schema(columns)
        for batch in self._read_batches(schema.names, batch_rows):
            whole = conform(batch, schema)
            check_dates(whole, where=self.name)
            for start in range(0, whole.num_rows, batch_rows):
                yield whole.slice(start, batch_rows)

    def schema(self, columns: Iterable[str] | None = None) -> pa.Schema:
        """Give the Arrow schema of `columns`, in the order asked; all of them without argument."""
        names = list(self.columns if columns is None else columns)
        for name in names:
            if name not in self.columns:
                raise RequestError(
                    f"the source has no column {name}",
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
        """Show `columns` to DuckDB, for one query. Rows stream into it only once."""
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
        """Stream, and remember why the stream stopped: DuckDB keeps only the words."""
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
        """Run a SELECT where the data lives and keep its answer as the table `into`.

        Parameters
        ----------
        sql : names the data `source` and reads only `columns` of it; plain SQL that DuckDB,
            SQLite, PostgreSQL and Spark understand alike.
        answer : the columns and types that `sql` gives.
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
        """Run a SELECT of DuckDB over the rows, called `source`, and keep its answer as `into`.

        Unlike `tabulate` it always reads the rows themselves.
        """
        with self._explain_stop():
            self.relation(connection, columns).query("source", sql).create(into)

    @contextmanager
    def _explain_stop(self) -> Iterator[None]:
        """Raise the error that stopped the rows. DuckDB keeps only its words."""
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
        """Run `sql` as `tabulate` is given it; None for a source that has no engine of its own."""
        return None


@dataclass(frozen=True)
class SourcePiece:
    """Rows of a Parquet file, one after the other, as plain data that any process opens for itself.

    file, groups : their place: the file's whole path, its first row group and the one after the
        last.
    rows, size : how many rows, and how many bytes they are in memory, about.
    state : what `state_of` gave for the file.
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
    """Return the facts that change with a file: its size, and its time or its tag."""
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
        """Hash the file's bytes, and those of a database's write-ahead log next to it."""
        return hash_file(self.path)


class TableSource(Source):
    """A source that is in memory already, as an Arrow table."""

    def __init__(self, table: pa.Table, name: str, kind: str, notes: Sequence[str] = ()) -> None:
        super().__init__(name, kind, table.schema, notes)
        self.table = table

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self.table.select(columns).to_batches(max_chunksize=rows)

    def about_rows(self) -> int:
        """Count the rows."""
        return int(self.table.num_rows)

    def without_others(self, columns: Container[str]) -> Source:
        """Return the source with these of its columns alone."""
        kept = [name for name in self.table.column_names if name in columns]
        return TableSource(self.table.select(kept), self.name, self.kind, self.notes)

    def fingerprint(self) -> str:
        """Hash the rows; equal tables hash alike, however they were sliced or chunked."""
        schema = self.schema()
        return hash_rows(schema, (conform(batch, schema) for batch in self.table.to_batches()))


class _HashedFile:
    """A file whose bytes are only hashed."""

    closed = False

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        return len(data)

    def flush(self) -> None: ...

    def close(self) -> None: ...


def hash_rows(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> str:
    """Hash rows with SHA-256 as an uncompressed Arrow IPC stream of equal batches.

    `take` writes a fresh copy of every value, zero under each null, so that equal rows in one order
    hash alike, however they come. Memory follows the batch.
    """
    sink = _HashedFile()
    with pa.ipc.new_stream(pa.PythonFile(sink, "w"), schema) as writer:
        for table in evenly(batches, BATCH_ROWS):
            rows = pa.array(range(table.num_rows), pa.int64())
            writer.write_batch(table.take(rows).combine_chunks().to_batches()[0])
    return sink.digest.hexdigest()


def evenly(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Cut batches so that all but the last have exactly `rows` rows."""
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
    """Hash a file with SHA-256, together with a database's write-ahead log next to it."""
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
    """Refuse two columns of one name: DuckDB takes `ZIP` and `zip` for the same column.

    Names in a file's first row are given by their places, because it may be a person's row.
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
    """Say in one sentence that a file cannot be read, without its contents.

    Engines quote the rows they stumble over, so their words are dropped. A full disk and a full
    memory are no fault of the file, so their errors pass. If Arrow lacks memory, the cause may be a
    wrong length in a damaged file.
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
    """Return the errors of DuckDB, which raises none before it is loaded."""
    engine = sys.modules.get("duckdb")
    return (engine.Error,) if engine else ()
