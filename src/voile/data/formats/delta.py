"""A Delta table: the Parquet files of one version, from its log."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, install
from voile.data.column_types import plain_schema
from voile.data.formats.arrow_files import ParquetSource
from voile.data.formats.part_files import LOG
from voile.data.formats.partitions import PartitionFile
from voile.data.formats.several import SeveralFiles
from voile.data.source import state_of
from voile.data.standard_input import private_folder
from voile.data.stores.copies import copy
from voile.data.stores.path import StorePath

READ = {"deletionVectors", "columnMapping", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""The features that this reader knows. It rejects tables that use the first two."""
KEY = "partition."
MAPPING = "delta.columnMapping.mode"
LOGGED = re.compile(r"([0-9]{20})\..*")
"""The name of a log file: ``00000000000000000012.json``,
``00000000000000000010.checkpoint.parquet``.
"""
CHECKPOINT = ".checkpoint."


class DeltaSource(SeveralFiles):
    """The Parquet files of one version of a Delta table, in the order of their names.

    The version is the newest at the time of opening, unless one is given. Later writes to the table
    do not change it. A column that was added later is null in the rows of older files. It is an
    error if files are removed or changed during reading.

    If the table is in a store, its log is copied to this machine from the last checkpoint on. The
    Parquet files are read in place.
    """

    def __init__(self, path: Path | StorePath, version: str | None = None) -> None:
        asked = None if version is None else int(version)
        log = path if isinstance(path, Path) else _copied_log(path, asked)
        table = _open_table(log, asked, path.name)
        name = f"{path.name}@v{table.version()}"
        _check_plain(table, name)
        self._keys = list(table.metadata().partition_columns)
        files = {path / str(place): keys for place, keys in _list_files(table, self._keys, name)}
        if not files:
            raise SourceError("the Delta table contains no rows", where=name)
        self._path, self._name = path, name
        self._files = self._states_of(files)
        self._tables = _parts(files)
        super().__init__(name, self._tables)

    def _states_of(self, files: Iterable[Path | StorePath]) -> dict[Path | StorePath, object]:
        """Return the size and time of each file. In a store, they come from one listing."""
        there = self._path.states() if isinstance(self._path, StorePath) else []
        listed = {place: (size, changed) for place, size, changed in there}
        try:
            return {
                file: listed[file.key] if isinstance(file, StorePath) else state_of(file)
                for file in files
            }
        except (OSError, KeyError):
            raise SourceError(
                "a vacuum removed a file of this version",
                where=self._name,
                instead="read a newer version",
            ) from None

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from super()._read_batches(columns, rows)
        self._check_unchanged()

    def folder_columns(self) -> Collection[str]:
        return self._keys

    def about_rows(self) -> int:
        """Return the number of rows from the footers of the files."""
        return sum(part.file.about_rows() for part in self._tables)

    def fingerprint(self) -> str:
        """Return a hash of the log entry of each file and of the files' own hashes."""
        digest = sha256()
        for part in self._tables:
            said = repr(part.keys.to_pylist())
            digest.update(f"{part.fingerprint()} {said}\0".encode())
        self._check_unchanged()
        return digest.hexdigest()

    def _check_unchanged(self) -> None:
        if self._states_of(self._files) != self._files:
            raise SourceError(
                "the Delta table changed while voile read it", where=self.name, instead="run again"
            )


def _copied_log(path: StorePath, version: int | None) -> Path:
    """Copy the log of a version: the last checkpoint and the later entries."""
    here = private_folder()
    (here / LOG).mkdir()
    logged = {
        file: int(found[1])
        for file in (path / LOG).files()
        if (found := LOGGED.fullmatch(file.name)) and str(file.parent) == str(path / LOG)
    }
    last = [
        number
        for file, number in logged.items()
        if CHECKPOINT in file.name and (version is None or number <= version)
    ]
    for file, number in logged.items():
        if number >= max(last, default=0):
            copy(file, here / LOG / file.name)
    return here


def _open_table(path: Path, version: int | None, name: str) -> Any:
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise RequestError(
            "the folder is a Delta table, and deltalake is not installed",
            where=name,
            instead=install("delta"),
        ) from None
    try:
        return DeltaTable(str(path), version=version)
    except Exception:  # its message may quote the log, which contains values
        if version is not None and (newest := _open_table(path, None, name).version()) < version:
            raise RequestError(
                f"the Delta table has no version {version}",
                where=name,
                instead=f"use the newest version, {newest}, or an earlier one",
            ) from None
        raise SourceError(
            "the Delta table is incomplete, or its log begins after this version",
            where=name,
            instead="copy the whole table, or name a newer version",
        ) from None


def _check_plain(table: Any, name: str) -> None:
    """Raise RequestError for a table with features that its Parquet files do not contain."""
    features = set(table.protocol().reader_features or ())
    if strange := features - READ:
        raise RequestError(
            "reading this Delta table needs a feature that voile lacks: "
            f"{', '.join(sorted(strange))}",
            where=name,
            instead="write the table as Parquet",
        )
    if table.metadata().configuration.get(MAPPING, "none") != "none":
        raise RequestError(
            "the Delta table uses column mapping, which voile does not read",
            where=name,
            instead="write the table as Parquet",
        )
    if pa.table(table.deletion_vectors()).num_rows:
        raise RequestError(
            "the Delta table marks deleted rows in deletion vectors, which voile does not read",
            where=name,
            instead="purge the deleted rows (REORG TABLE ... APPLY (PURGE)), or write the "
            "table as Parquet",
        )


def _list_files(
    table: Any, keys: list[str], name: str
) -> Iterator[tuple[PurePosixPath, pa.RecordBatch]]:
    """Yield each file's path below the table and one row of its partition columns, by path."""
    actions = pa.table(table.get_add_actions(flatten=True)).sort_by("path")
    for number, listed in enumerate(actions["path"].to_pylist()):
        place = PurePosixPath(unquote(listed))
        if place.is_absolute() or "://" in listed or ".." in place.parts:
            raise RequestError(
                "the Delta table's log lists files outside the table's folder",
                where=name,
                instead="copy the table with all its files",
            )
        row = actions.slice(number, 1)
        said = {key: row[KEY + key].combine_chunks() for key in keys}
        yield place, pa.RecordBatch.from_arrays([*said.values()], names=[*said])


def _parts(files: Mapping[Path | StorePath, pa.RecordBatch]) -> list[PartitionFile]:
    """Open the files. A column that only other files have is null in every row."""
    opened = [(ParquetSource(file), keys) for file, keys in files.items()]
    every: dict[str, pa.DataType] = {}
    for source, keys in opened:
        for field in (*source.schema(), *plain_schema(keys.schema)):
            every.setdefault(field.name, field.type)
    parts = []
    for source, keys in opened:
        row = dict(zip(keys.schema.names, keys.columns, strict=True))
        lacking = [name for name in every if name not in source.columns and name not in row]
        row |= {name: pa.nulls(1, every[name]) for name in lacking}
        parts.append(
            PartitionFile(source, pa.RecordBatch.from_arrays([*row.values()], names=[*row]))
        )
    return parts
