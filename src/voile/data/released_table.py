"""The common part of released tables: the pointer file of a table, and its rows until publication.

- county.duckdb.visits.table : the database, the table, and a hash of its rows
- county.duckdb.visits.table.manifest.json : as for any release
- county.duckdb.visits.table.private/ : as for any release

Rows are first written and certified next to the staged file. They are then written to the database
in one transaction, which also reads them back. Changes of other tables are not checked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import tomli_w

from voile.core.errors import RequestError, SourceError, TamperedError, printable
from voile.data.column_types import conform
from voile.data.files.own_files import read_toml
from voile.data.formats.arrow_files import ArrowSource
from voile.data.formats.typed_writers import ArrowWriter
from voile.data.source import Source, hash_rows
from voile.data.writer import BatchWriter

MARK = "written by voile"
"""The comment that marks a released table."""


@dataclass(frozen=True)
class TablePointer:
    """The file that represents a released table, with the table's address and a hash of its rows.

    database : an address of PostgreSQL, or the name of a file in the same folder.
    """

    database: str
    table: str
    sha256: str

    @classmethod
    def read_file(cls, path: Path) -> TablePointer:
        try:
            parts = read_toml(path)
            return cls(**{name: printable(str(part)) for name, part in parts.items()})
        except (RequestError, TypeError):
            raise SourceError(
                f"the {path.suffix[1:]} file is damaged or truncated",
                where=path.name,
                instead="copy the release again",
            ) from None

    def write(self, path: Path) -> None:
        path.write_text(tomli_w.dumps(self.__dict__), encoding="utf-8")


def rows_path(path: Path) -> Path:
    """Return the path of the rows until they are published."""
    return path.with_name(f"{path.name}.rows")


def open_table(path: Path, find: Callable[[TablePointer], Source]) -> Source:
    """Open the table behind a file. Before publication, open its rows."""
    if rows_path(path).exists():
        return ArrowRows(path)
    pointer = TablePointer.read_file(path)
    table = find(pointer)
    if hash_rows(table.schema(), table.batches()) != pointer.sha256:
        raise TamperedError(
            "the table's rows differ from the released rows",
            where=table.name,
            instead="apply the policy again",
        )
    return table


class TableWriter(BatchWriter):
    """Stage the rows of a table and its pointer file until publication."""

    def __init__(self, path: Path, schema: pa.Schema, database: str, table: str) -> None:
        self._path, self._schema = path, schema
        self._database, self._table = database, table
        self._rows = ArrowWriter(rows_path(path), schema)

    def write(self, batch: pa.RecordBatch) -> None:
        self._rows.write(conform(batch, self._schema))

    def close(self) -> None:
        """Finish the rows, and write the pointer file."""
        self._rows.close()
        sha256 = ArrowRows(self._path).fingerprint()
        TablePointer(self._database, self._table, sha256).write(self._path)


class ArrowRows(ArrowSource):
    """Rows before publication, with the same hash as their future table."""

    def __init__(self, path: Path) -> None:
        super().__init__(rows_path(path))

    def fingerprint(self) -> str:
        return hash_rows(self.schema(), self.batches())
