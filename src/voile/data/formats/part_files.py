"""The Parquet files of a folder, as written by Spark, Hive, DuckDB and others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from voile.data.stores.path import StorePath

LOG = "_delta_log"
AT_VERSION = re.compile(r"(.+)@v([0-9]{1,18})")
"""The pattern of a path with a version, as in Delta: ``visits@v12``."""


def files_of(folder: Path | StorePath) -> Iterator[Path | StorePath]:
    """Yield the Parquet files of a folder, on this machine or in a store, as `part_files` does."""
    if isinstance(folder, StorePath):
        for file in folder.files():
            parts = file.relative_to(folder).parts
            if file.suffix == ".parquet" and not any(part[0] in "._" for part in parts):
                yield file
    else:
        yield from part_files(folder)


def part_files(folder: Path) -> Iterator[Path]:
    """Yield the Parquet files below a folder, in the order of their names.

    By convention, names that begin with a dot or an underscore belong to the program that wrote
    them: `_SUCCESS`, `_temporary`, `.part-0.parquet.crc`. They are skipped. Links to folders are
    not followed.
    """
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from part_files(Path(entry))
        elif entry.name.endswith(".parquet"):
            yield Path(entry)


def is_partitioned(folder: Path) -> bool:
    """Return whether a path is a readable folder that contains Parquet files."""
    try:
        return folder.is_dir() and next(part_files(folder), None) is not None
    except PermissionError:
        return False


def is_delta(path: Path | StorePath) -> bool:
    return (path / LOG).is_dir()


def at_version(path: Path | StorePath) -> tuple[Path | StorePath, int] | None:
    """Split ``visits@v12`` if ``visits`` is a Delta table and no file has the whole name.

    >>> at_version(Path("nowhere@v12"))
    """
    found = AT_VERSION.fullmatch(path.name)
    if found is None or path.exists() or not is_delta(table := path.with_name(found[1])):
        return None
    return table, int(found[2])
