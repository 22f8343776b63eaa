"""Files of one format with the same columns, read as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.data.source import Source, SourcePiece

if TYPE_CHECKING:
    import duckdb


class SeveralFiles(Source):
    """Files of one format with the same columns, read one after the other by name."""

    def __init__(self, name: str, parts: Sequence[Source]) -> None:
        first = parts[0]
        for part in parts[1:]:
            _check_same(first, part)
        notes = [count(len(parts), "file"), *dict.fromkeys(n for part in parts for n in part.notes)]
        super().__init__(name, first.kind, pa.schema(list(first.columns.items())), notes)
        self.parts = parts
        self.dialect = first.dialect

    def has_rows(self) -> bool:
        """Return whether at least one of the files has rows."""
        return any(part.has_rows() for part in self.parts)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for part in self.parts:
            yield from part.batches(columns, batch_rows=rows)

    def relation(
        self, connection: duckdb.DuckDBPyConnection, columns: Iterable[str] | None = None
    ) -> duckdb.DuckDBPyRelation:
        """Return a relation.

        DuckDB scans local Parquet files itself, and other files are streamed.
        """
        from voile.data.formats.arrow_files import ParquetSource, parquet_relation

        own = [part.path for part in self.parts if isinstance(part, ParquetSource)]
        files = [path for path in own if isinstance(path, Path)]
        if files:
            return parquet_relation(connection, files)
        return super().relation(connection, columns)

    def pieces(self, columns: Sequence[str], directory: Path, size: int) -> Iterator[SourcePiece]:
        """Yield the pieces of each file."""
        for part in self.parts:
            yield from part.pieces(columns, directory, size)

    def fingerprint(self) -> str:
        """Return a hash of the files' own hashes, in order."""
        return sha256("".join(part.fingerprint() for part in self.parts).encode()).hexdigest()


def _check_same(first: Source, other: Source) -> None:
    if other.kind != first.kind:
        raise RequestError(
            f"the file is {other.kind}, but {first.name} is {first.kind}",
            where=other.name,
            instead="write a pattern that matches files of one format",
        )
    for name in [*first.columns, *other.columns]:
        here, there = other.columns.get(name), first.columns.get(name)
        if here != there:
            raise RequestError(
                f"column {name} is {here or 'absent'} in this file, and {there or 'absent'} "
                f"in {first.name}",
                where=other.name,
                instead="give the column the same type in all files",
            )
