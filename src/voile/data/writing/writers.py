"""Write releases: CSV, Parquet, Arrow, JSON lines, DuckDB, a table of DuckDB or PostgreSQL.

What a text format cannot hold as it is becomes text: dates and times by ISO 8601, booleans `true`
and `false`, decimals exactly, floats by the shortest digits that read back the same. Lists,
structs and bytes do not fit in CSV, and are refused by name.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from voile.core.errors import RequestError
from voile.data.formulas import escape as escaped
from voile.data.formulas import formulas
from voile.data.opening import TABLE, split_table
from voile.data.postgres.address import POSTGRESQL, Address
from voile.data.source import (
    BATCH_ROWS,
    OFFLINE,
    conform,
    distinct_names,
    identifier,
    plain,
    plain_schema,
)

GROUP_BYTES = 16 << 20
"""Of rows in a row group of Parquet, or `BATCH_ROWS` of them: whichever is reached first."""


class Writer(ABC):
    """Write record batches one after the other; what was written is whole when it is closed.

    Attributes
    ----------
    formulas : how many cells of each column a spreadsheet that opens the file takes for formulas.
    """

    formulas: Mapping[str, int] = MappingProxyType({})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows, of the writer's schema; dictionary arrays may change theirs."""

    @abstractmethod
    def close(self) -> None:
        """End the file."""


def open_writer(
    path: str | os.PathLike[str],
    schema: pa.Schema,
    *,
    force: bool = False,
    escape: bool = False,
) -> Writer:
    """Open a writer by the end of the path's name.

    Parameters
    ----------
    path : by its suffix one of `WRITERS`, or for a table that `publishing` makes
        "file.postgresql::postgresql://host/database::table" or "file.table::file.duckdb::table".
        Give a place inside a `Staging`: what is there is overwritten.
    schema : of every batch; names are distinct.
    force : let `publishing` replace a table that voile wrote.
    escape : write formulas as text, in CSV and TSV (`voile.data.formulas`).

    Raises
    ------
    RequestError : the format is unknown, cannot hold a column's type, or knows no formulas.
    """
    distinct_names(schema.names, where="output")
    file, table = split_table(path)
    suffix = file.suffix.lower()
    if escape:
        return _spreadsheet_writer(file, schema)
    if suffix == POSTGRESQL:
        return _postgres_writer(file, schema, table, force=force)
    if suffix == TABLE and table is not None:
        from voile.data.writing.duckdb_release import DuckDBTableWriter

        return DuckDBTableWriter(file, schema, place=table, force=force)
    if table is not None or suffix not in WRITERS:
        raise RequestError(
            f"{suffix or 'a name without suffix'} cannot be written" if table is None
            else f"{suffix} holds no tables",
            where=file.name,
            instead=f"use {', '.join(WRITERS)}",
        )  # fmt: skip
    return WRITERS[suffix](file, schema)


def _spreadsheet_writer(file: Path, schema: pa.Schema) -> Writer:
    writers = {".csv": CsvWriter, ".tsv": TsvWriter}
    suffix = file.suffix.lower()
    if suffix not in writers:
        raise RequestError(
            "formulas are escaped in .csv and .tsv alone",
            where=file.name,
            instead="leave --formulas escape out",
        )
    return writers[suffix](file, schema, escape=True)


def _postgres_writer(file: Path, schema: pa.Schema, table: str | None, *, force: bool) -> Writer:
    from voile.data.postgres.release import PostgresWriter

    address = Address.parse(table or "")
    if address is None:
        raise RequestError(
            "this file stands for a table of a database that is not named",
            where=file.name,
            instead=f"write {file.name}::postgresql://host/database::table",
        )
    return PostgresWriter(file, schema, address=address, force=force)


@contextmanager
def publishing(
    path: Path, table: str | None, *, force: bool = False
) -> Iterator[Callable[[], None]]:
    """Let what a writer staged appear where no file is, by the function that the block is given.

    Files appear by `Staging.commit` alone, and need nothing. A table of a database is sent and
    checked here, and is seen by others once the function is called: call it when all else is in
    place. A block that ends without leaves the database as it was.

    Parameters
    ----------
    path : where the writer wrote, inside the `Staging`. table : as it was given to the writer.
    force : replace a table that voile wrote.
    """
    suffix = path.suffix.lower()
    if suffix == POSTGRESQL:
        from voile.data.postgres import release as postgres_release

        with postgres_release.sending(path, force=force) as publish:
            yield publish
    elif suffix == TABLE and table is not None:
        from voile.data.writing import duckdb_release

        with duckdb_release.sending(path, table, force=force) as publish:
            yield publish
    else:
        yield lambda: None


class CsvWriter(Writer):
    """RFC 4180 in UTF-8 with "\\n": null is empty, a text that is empty is `""`.

    A field is quoted when it needs it: where it holds the delimiter, a quote or a line's end.

    Parameters
    ----------
    escape : write what a spreadsheet would take for a formula as text (`voile.data.formulas`).
    """

    delimiter = ","

    def __init__(self, path: Path, schema: pa.Schema, *, escape: bool = False) -> None:
        for field in schema:
            _check_flat(field)
        self.formulas = self._formulas = Counter[str]()
        self._escape = escape
        self._file = path.open("wb")
        self._write_lines([self._fields(name, pa.array([name])) for name in schema.names])

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        if batch.num_rows:
            named = zip(batch.schema.names, batch.columns, strict=True)
            self._write_lines([self._fields(name, column) for name, column in named])

    def _fields(self, name: str, column: pa.Array) -> pa.Array:
        """Write a column's values as fields; a dictionary's values once each."""
        if isinstance(column, pa.DictionaryArray):
            self._count(name, column.dictionary, column.indices)
            return self._field(column.dictionary).take(column.indices)
        self._count(name, column)
        return self._field(column)

    def _count(self, name: str, values: pa.Array, places: pa.Array | None = None) -> None:
        if _is_text(values.type):
            found = formulas(values)
            if pc.any(found).as_py():
                cells = found if places is None else found.take(places)
                self._formulas[name] += pc.sum(cells).as_py() or 0

    def _field(self, values: pa.Array) -> pa.Array:
        text = values.cast(pa.large_string())
        if not _is_text(values.type):
            return text
        return _quoted(escaped(text) if self._escape else text, self.delimiter)

    def _write_lines(self, columns: list[pa.Array]) -> None:
        """Join the columns to lines: a text array's own buffer is then the file's bytes."""
        fields = pc.binary_join_element_wise(
            *columns, _large(self.delimiter), null_handling="replace", null_replacement=""
        )
        lines = pc.binary_join_element_wise(fields, _large("\n"), _large(""))
        self._file.write(_text_bytes(lines))

    def close(self) -> None:
        """End the file."""
        self._file.close()


class TsvWriter(CsvWriter):
    """As CSV, separated by tabs."""

    delimiter = "\t"


def _check_flat(field: pa.Field) -> None:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise RequestError(
            f"column {field.name} is {kind}, which CSV cannot hold",
            instead="write .parquet, or drop the column",
        )


def _is_text(kind: pa.DataType) -> bool:
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_one(kind) for is_one in texts)


def _quoted(text: pa.LargeStringArray, delimiter: str) -> pa.Array:
    special = pc.match_substring_regex(text, f'^$|["\\r\\n{delimiter}]')
    if not pc.any(special).as_py():
        return text
    doubled = pc.replace_substring(text, '"', '""')
    wrapped = pc.binary_join_element_wise(_large('"'), doubled, _large('"'), _large(""))
    return pc.if_else(special, wrapped, text)


def _large(text: str) -> pa.LargeStringScalar:
    return pa.scalar(text, pa.large_string())


def _text_bytes(text: pa.LargeStringArray) -> memoryview:
    offsets = memoryview(text.buffers()[1]).cast("q")
    start, stop = offsets[text.offset], offsets[text.offset + len(text)]
    return memoryview(text.buffers()[2])[start:stop]


class ParquetWriter(Writer):
    """Parquet, compressed by zstd; dictionaries are kept.

    Small batches share a row group, of each of which something stays in memory until the end; not
    those with dictionaries, since all of theirs may be more than their type can number.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._file = pq.ParquetWriter(path.absolute(), schema, compression="zstd")
        self._apart = any(map(pa.types.is_dictionary, schema.types))
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._held.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._apart or self._rows >= BATCH_ROWS or self._bytes >= GROUP_BYTES:
            self._write_held()

    def close(self) -> None:
        """End the file."""
        try:
            self._write_held()
        finally:
            self._file.close()

    def _write_held(self) -> None:
        held, self._held = self._held, []
        self._rows = self._bytes = 0
        if held:
            self._file.write_table(pa.Table.from_batches(held))


class ArrowWriter(Writer):
    """Arrow IPC file (Feather version 2), dictionaries written out: it allows one per column."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = plain_schema(schema)
        self._file = pa.ipc.new_file(path, self._schema)

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._file.write_batch(conform(batch, self._schema))

    def close(self) -> None:
        """End the file."""
        self._file.close()


class JsonLinesWriter(Writer):
    """One JSON object a line, in UTF-8, nulls as null.

    What JSON has no type for is text, as in CSV: dates, times, decimals, and floats that are no
    finite number.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        for field in schema:
            if pa.types.is_binary(plain(field.type)):
                raise RequestError(
                    f"column {field.name} is bytes, which JSON cannot hold",
                    instead="write .parquet, or drop the column",
                )
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        names = batch.schema.names
        columns = [_json_cells(column) for column in batch.columns]
        for cells in zip(*columns, strict=True):
            row = dict(zip(names, cells, strict=True))
            self._file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")

    def close(self) -> None:
        """End the file."""
        self._file.close()


def _json_cells(column: pa.Array) -> list[object]:
    kind = plain(column.type)
    values = column.cast(kind)
    if pa.types.is_floating(kind):
        return [v if v is None or isfinite(v) else str(v) for v in values.to_pylist()]
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        values = values.cast(pa.string())
    return list(values.to_pylist())


class DuckDBWriter(Writer):
    """A new DuckDB file with the table "release"; dictionaries become text."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        import duckdb

        self._connection = duckdb.connect(str(path.absolute()), config={**OFFLINE})
        self._schema = plain_schema(schema)
        self._table = identifier("release")
        self._connection.register("batch", self._schema.empty_table())
        self._connection.execute(f"CREATE TABLE {self._table} AS SELECT * FROM batch")

    def write(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        self._connection.register("batch", pa.table(conform(batch, self._schema)))
        self._connection.execute(f"INSERT INTO {self._table} SELECT * FROM batch")

    def close(self) -> None:
        """End the file."""
        self._connection.close()


def _transactions(file: Path, schema: pa.Schema) -> Writer:
    from voile.data.formats.transactions import TransactionWriter

    return TransactionWriter(file, schema)


def _svmlight(file: Path, schema: pa.Schema) -> Writer:
    from voile.data.formats.transactions import SvmlightWriter

    return SvmlightWriter(file, schema)


WRITERS: dict[str, Callable[[Path, pa.Schema], Writer]] = {
    ".csv": CsvWriter,
    ".tsv": TsvWriter,
    ".parquet": ParquetWriter,
    ".arrow": ArrowWriter,
    ".feather": ArrowWriter,
    ".jsonl": JsonLinesWriter,
    ".ndjson": JsonLinesWriter,
    ".duckdb": DuckDBWriter,
    ".dat": _transactions,
    ".svm": _svmlight,
    ".svmlight": _svmlight,
}
"""What writes a file, by the end of its name."""
