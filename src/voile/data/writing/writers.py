"""Choose the writer of a release: CSV, Parquet, Arrow, JSON lines, DuckDB, or a database table."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.column_types import conform, plain_schema
from voile.data.files.memory import MemoryPath
from voile.data.formats.text_writers import CsvWriter, JsonLinesWriter, TsvWriter
from voile.data.formats.typed_writers import ArrowWriter, DuckDBWriter, ParquetWriter
from voile.data.opening import TABLE, split_table
from voile.data.postgres.address import POSTGRESQL, DatabaseAddress
from voile.data.source import distinct_names
from voile.data.writer import BatchWriter, TextDialect


def open_writer(
    path: str | os.PathLike[str] | MemoryPath,
    schema: pa.Schema,
    *,
    force: bool = False,
    escape: bool = False,
    dialect: TextDialect | None = None,
) -> BatchWriter:
    """Open a writer that fits the suffix of a path.

    path : a path with a suffix of `WRITERS`. For a table that `publishing` creates, it is
        "file.postgresql::postgresql://host/database::table" or "file.table::file.duckdb::table". A
        path inside a `Staging` is overwritten. A path in memory is possible too.
    schema : the schema of every batch, with distinct names.
    force : whether `publishing` may replace a table that voile wrote.
    escape : whether to write formulas as text, in CSV and TSV (`voile.data.formulas`).
    dialect : the dialect of the source. CSV keeps it, and TSV keeps it except for the delimiter.

    Raises RequestError: the format is unknown, cannot store a column's type, or has no formulas.
    """
    distinct_names(schema.names, where="output")
    if isinstance(path, MemoryPath):
        return MemoryWriter(path, schema, escape=escape)
    file, table = split_table(path)
    suffix = file.suffix.lower()
    if table is None and suffix in DELIMITED:
        return DELIMITED[suffix](file, schema, escape=escape, dialect=dialect)
    if escape:
        raise RequestError(
            "--formulas escape applies only to .csv and .tsv files",
            where=file.name,
            instead="leave --formulas escape out",
        )
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
            instead=f"write to a file that ends in {', '.join(WRITERS)}",
        )  # fmt: skip
    return WRITERS[suffix](file, schema)


def _postgres_writer(
    file: Path, schema: pa.Schema, table: str | None, *, force: bool
) -> BatchWriter:
    from voile.data.postgres.release import PostgresWriter

    address = DatabaseAddress.parse(table or "")
    if address is None:
        raise RequestError(
            "the address lacks the file's database table",
            where=file.name,
            instead=f"write {file.name}::postgresql://host/database::table",
        )
    return PostgresWriter(file, schema, address=address, force=force)


@contextmanager
def publishing(
    path: Path, table: str | None, *, force: bool = False
) -> Iterator[Callable[[], None]]:
    """Yield the function that makes the staged rows of a database table visible.

    Files appear with `Staging.commit`, so nothing is done for them. A database table is sent and
    checked here. It becomes visible when the function is called. Call it when all other parts are
    in place. If the block does not call it, the database does not change.

    path : the path to which the writer wrote, inside the `Staging`.
    table : the table in the form in which the writer received it.
    force : whether to replace a table that voile wrote.
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


def _transactions(file: Path, schema: pa.Schema) -> BatchWriter:
    from voile.data.formats.baskets import ITEMS, TEXT_LISTS, BasketWriter
    from voile.data.formats.transactions import TransactionWriter

    if schema.names == [ITEMS] and schema.types == [TEXT_LISTS]:
        return BasketWriter(file)
    return TransactionWriter(file, schema)


def _svmlight(file: Path, schema: pa.Schema) -> BatchWriter:
    from voile.data.formats.transactions import SvmlightWriter

    return SvmlightWriter(file, schema)


DELIMITED: dict[str, type[CsvWriter]] = {".csv": CsvWriter, ".tsv": TsvWriter}
WRITERS: dict[str, Callable[[Path, pa.Schema], BatchWriter]] = {
    **DELIMITED,
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
"""The writer of each file format, by the suffix of the file name."""


class MemoryWriter(BatchWriter):
    """Write an Arrow table to a path in memory. Dictionaries are written as plain values."""

    def __init__(self, place: MemoryPath, schema: pa.Schema, *, escape: bool = False) -> None:
        if escape:
            raise RequestError(
                "--formulas escape applies only to .csv and .tsv files",
                where=str(place),
                instead="write a .csv or .tsv file, or leave --formulas escape out",
            )
        self._place, self._schema = place, plain_schema(schema)
        self._batches: list[pa.RecordBatch] = []

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(conform(batch, self._schema))

    def close(self) -> None:
        self._place.rows = pa.Table.from_batches(self._batches, self._schema)
