"""DuckDB connections with a memory limit, without downloads and without leftover files."""

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
"""The default memory limit for counting in bytes, including the result."""


@contextmanager
def connect(
    *, memory: int = MEMORY, threads: int | None = None, directory: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open an in-memory database that spills to a temporary folder of its own, with mode 0700.

    memory : the memory budget in bytes, > 0. DuckDB uses half of it, so that a result fits in the
        other half.
    threads : the number of threads, >= 1. None uses every core. Results do not depend on it.
    directory : the parent of the temporary folder. None means the system's temporary folder. The
        folder contains unencrypted rows while a query runs, so pass the staging folder of the
        output.
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
        # without notebook widgets, there is no progress bar
        with suppress(duckdb.InvalidInputException):
            # the bar would be printed to standard output
            connection.execute("SET enable_progress_bar = false")
        try:
            yield connection
        except duckdb.OutOfMemoryException:
            raise RequestError(
                f"the count does not fit in {memory / 1e9:.1f} GB of memory",
                instead="give more memory, or fewer columns",
            ) from None
        finally:
            connection.close()
