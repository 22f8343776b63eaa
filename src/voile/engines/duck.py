"""A DuckDB connection with a memory limit, without downloads and without leftover files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from voile.core.errors import RequestError
from voile.data.source import OFFLINE

if TYPE_CHECKING:
    import duckdb

MEMORY = 2_000_000_000
"""The default limit of bytes for counting, its answer included."""


@contextmanager
def connect(
    *, memory: int = MEMORY, threads: int | None = None, directory: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in memory. It spills to its own folder, mode 0700, which is removed later.

    memory : bytes, > 0. DuckDB uses half of them, so that a result fits in the other half.
    threads : >= 1. None for every core. Results do not depend on it.
    directory : the parent of the folder. None for the system's temporary folder. It contains
        unencrypted rows while a query runs, so pass the staging folder of the output.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="voile-", dir=directory) as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            **OFFLINE,
            "memory_limit": f"{memory // 2}B",
            "temp_directory": spill,
            "preserve_insertion_order": False,
        }
        if threads is not None:
            settings["threads"] = threads
        connection = duckdb.connect(config=settings)
        with suppress(duckdb.InvalidInputException):  # in a notebook without widgets it has no bar
            connection.execute("SET enable_progress_bar = false")  # it goes to standard output
        try:
            yield connection
        except duckdb.OutOfMemoryException:
            raise RequestError(
                f"the count does not fit in {memory / 1e9:.1f} GB of memory",
                instead="give more memory, or fewer columns",
            ) from None
        finally:
            connection.close()
