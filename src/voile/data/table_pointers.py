"""Open a released table of a DuckDB file by its pointer file."""

from __future__ import annotations

from pathlib import Path

from voile.core.errors import SourceError
from voile.data.formats.databases import DuckDBSource
from voile.data.released_table import TablePointer, open_table
from voile.data.source import Source


def open_released(path: Path) -> Source:
    """Open the table behind a `.table` file. See `open_table`."""

    def beside(pointer: TablePointer) -> Source:
        database = path.parent / Path(pointer.database).name
        if not database.is_file():
            raise SourceError(
                "the database of this pointer file is not in the same folder",
                where=path.name,
                instead="move the database next to the pointer file",
            )
        return DuckDBSource(database, table=pointer.table)

    return open_table(path, beside)
