"""Tables and data frames of Spark, counted in the cluster and streamed from it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data.column_types import conform
from voile.data.formats.arrow_files import ParquetSource
from voile.data.formats.partitions import keys_of
from voile.data.formats.typed_writers import ParquetWriter
from voile.data.source import Source, SourcePiece, hash_rows
from voile.data.spark.session import SCHEME, STANDARD, open_session, settings, spark_failures

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

UNREAD = {"struct": pa.types.is_struct, "map": pa.types.is_map, "list": pa.types.is_list}
"""Types of columns without order and groups, which are not read."""
NOT_IN_ARROW = ("yearmonthinterval", "interval")
"""Spark's types that have no equivalent in Arrow."""


class SparkSource(Source):
    """A table or data frame of Spark.

    Counts run in the cluster, and the driver receives only the groups. Rows are streamed in the
    order of all their values, sorted by Spark, because a table has no order. Memory: the largest
    partition of the sorted rows.

    It is an error if files of a table appear or disappear during reading. Changes in a table
    without files are not detected.
    """

    def __init__(self, frame: DataFrame, name: str) -> None:
        self._frame, self._session = frame, frame.sparkSession
        with spark_failures(name):
            _check_fields(frame, name)
            fields = list(frame.limit(0).toArrow().schema)
            self._files = self._list_files()
        super().__init__(name, "spark", fields)

    @classmethod
    def table(cls, name: str) -> SparkSource:
        """Open a table by its name in Spark SQL."""
        session = open_session()
        with spark_failures(name):
            return cls(session.table(name), name)

    def schema(self, columns: Iterable[str] | None = None) -> pa.Schema:
        """Return the Arrow schema of `columns`.

        Raise RequestError for a column of an unreadable type.
        """
        schema = super().schema(columns)
        for field in schema if columns is not None else ():
            if unread := self._unread(field.type):
                raise RequestError(
                    f"the column is a {unread}, which voile does not read",
                    where=f"{self.name}, column {field.name}",
                    instead="select the column's parts in a view",
                )
        return schema

    @staticmethod
    def _unread(kind: pa.DataType) -> str | None:
        return next((name for name, is_so in UNREAD.items() if is_so(kind)), None)

    @property
    def _readable(self) -> list[str]:
        return [name for name, kind in self.columns.items() if self._unread(kind) is None]

    def folder_columns(self) -> Collection[str]:
        return {name for file in self._files for name in keys_of(Path(file))}

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(columns)
        with self._order_rows(columns) as ordered:
            for packed in ordered.mapInArrow(_packing(), "batch binary").toLocalIterator():
                with pa.ipc.open_stream(bytes(packed[0])) as stream:
                    for batch in stream:
                        yield conform(batch, schema)

    def pieces(self, columns: Sequence[str], directory: Path, size: int) -> Iterator[SourcePiece]:
        """Let the workers write the sorted rows first, and yield the written pieces.

        Each row then has one number, even if tasks are repeated.
        """
        schema, place = self.schema(columns), directory / "source"
        place.mkdir(mode=0o700)
        with self._order_rows(columns) as ordered:
            copied = ordered.mapInArrow(_copying(schema, place), "part int, name string").collect()
        for _, name in sorted(map(tuple, copied)):
            yield from ParquetSource(place / name).pieces(columns, directory, size)

    @contextmanager
    def _order_rows(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows sorted by all their values, with columns renamed c0, c1, ..."""
        shown = ", ".join(f"{_quote_name(name)} AS c{i}" for i, name in enumerate(columns))
        order = ", ".join(map(_quote_name, self._readable))
        with self._refuse_changes(), spark_failures(self.name), self._view() as view:
            yield self._session.sql(f"SELECT {shown} FROM {view} ORDER BY {order}")

    def _answer(self, sql: str, columns: list[str], answer: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Run `sql` in Spark, which sends only its result."""
        shown = ", ".join(map(_quote_name, columns))
        with self._refuse_changes(), spark_failures(self.name), self._view() as view:
            read = f"SELECT {shown} FROM {view}"
            query = f"WITH source AS ({read}) SELECT * FROM ({_requote_names(sql)}) AS answer"
            with settings(self._session, STANDARD):
                counted = self._session.sql(query).toArrow()
        yield from counted.to_batches()

    def fingerprint(self) -> str:
        """Return a hash of all rows in the order of their values, as a stream."""
        names = self._readable
        return hash_rows(self.schema(names), self.batches(names))

    @contextmanager
    def _view(self) -> Iterator[str]:
        """Give the frame a temporary name, because SQL can quote names that frames cannot."""
        view = f"voile_{secrets.token_hex(8)}"
        self._frame.createOrReplaceTempView(view)
        try:
            yield view
        finally:
            self._session.catalog.dropTempView(view)

    @contextmanager
    def _refuse_changes(self) -> Iterator[None]:
        """Raise SourceError if files appeared or disappeared during reading."""
        yield
        with spark_failures(self.name):
            if self._list_files() != self._files:
                raise SourceError(
                    "the table changed while Spark read it", where=self.name, instead="run again"
                )

    def _list_files(self) -> list[str]:
        return sorted(self._frame.inputFiles())


def open_table(address: str) -> SparkSource:
    """Open ``spark:TABLE``."""
    name = address.removeprefix(SCHEME)
    if not name:
        raise RequestError("the address lacks a table", where=address, instead="write spark:TABLE")
    return SparkSource.table(name)


def _check_fields(frame: DataFrame, table: str) -> None:
    for field in frame.schema:
        if (kind := field.dataType.typeName()) in NOT_IN_ARROW:
            raise RequestError(
                f"the column has the type {kind}, which voile cannot read from Spark",
                where=f"{table}, column {field.name}",
                instead="leave the column out, or convert it to a number or text in a view",
            )


def _quote_name(name: str) -> str:
    """Quote a name in the syntax of Spark.

    >>> _quote_name("tick`")
    '`tick```'
    """
    return f"`{name.replace('`', '``')}`"


def _requote_names(sql: str) -> str:
    """Convert quoted names of standard SQL to the syntax of Spark.

    >>> _requote_names('SELECT "a ""b"" c" FROM source')
    'SELECT `a "b" c` FROM source'
    """
    return re.sub('"((?:[^"]|"")*)"', lambda name: _quote_name(name[1].replace('""', '"')), sql)


def _copying(schema: pa.Schema, place: Path) -> Any:
    """Return a function that writes the rows of a partition to a new file and yields its name."""

    def copy(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        name = f"{part}-{secrets.token_hex(8)}.parquet"
        rows = 0
        try:
            with ParquetWriter(place / name, schema) as file:
                for batch in batches:
                    file.write(conform(batch, schema))
                    rows += len(batch)
        except (pa.ArrowException, OSError) as error:  # its message may quote a row
            raise RuntimeError(
                f"Spark's copy of the table failed: {type(error).__name__}"
            ) from None
        if rows:
            yield pa.RecordBatch.from_pydict({"part": pa.array([part], pa.int32()), "name": [name]})

    return copy


def _packing() -> Any:
    """Return a function that packs a batch of rows into bytes, so that rows travel as Arrow.

    Spark sends the code of the inner function, so workers do not need voile.
    """

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow

        for batch in batches:
            sink = pyarrow.BufferOutputStream()
            with pyarrow.ipc.new_stream(sink, batch.schema) as stream:
                stream.write_batch(batch)
            packed = pyarrow.array([sink.getvalue().to_pybytes()], pyarrow.binary())
            yield pyarrow.RecordBatch.from_arrays([packed], names=["batch"])

    return pack
