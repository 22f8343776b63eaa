"""Read kits and policies from files, after checks of their contents and sizes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field

from voile.core.errors import DamagedError, RequestError, SourceError, TamperedError
from voile.data.files.outputs import KIT_FORMAT, KIT_INDEX, KIT_VERSION, Visibility
from voile.data.files.own_files import check_model, parse_json, read_bytes, read_toml
from voile.data.source import unreadable

MOST_VALUES, MOST_BYTES = 1 << 29, 4 << 30
"""The limits on the values and on the unpacked bytes of all tables of a kit together."""
BATCH_ROWS = 4096
PLAIN = {"PLAIN", "RLE", "BIT_PACKED"}
"""The encodings in a kit's tables. Without dictionaries, the files state their sizes beforehand."""


class PolicyFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    kind: str
    kit: str
    number: int | None = Field(None, ge=0)
    edited: bool = False
    choice: dict[str, Any]
    figures: dict[str, bool | float]
    policy: dict[str, Any]


class IndexEntry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    file: str
    sha256: str


class KitIndex(BaseModel):
    kind: str
    visibility: Visibility
    facts: dict[str, Any]
    tables: dict[str, IndexEntry]


def read_policy(path: Path) -> PolicyFile:
    try:
        data = read_toml(path)
    except (FileNotFoundError, NotADirectoryError):
        raise RequestError("no such policy file", where=str(path)) from None
    return check_model(PolicyFile, data, "the policy", path)


def read_index(path: Path, kind: str | None) -> tuple[bytes, KitIndex]:
    """Return the bytes and the content of a kit's index. Refuse another `kind` if one is given."""
    try:
        raw = read_bytes(path / KIT_INDEX)
    except (FileNotFoundError, NotADirectoryError):
        fit = f"voile {kind} fit" if kind else "fit"
        raise RequestError("no kit here", where=str(path), instead=f"{fit} writes one") from None
    data = parse_json(raw, "the kit's index", path)
    if not isinstance(data, dict) or data.get("format") != KIT_FORMAT:
        raise RequestError("this is not a kit", where=str(path))
    version = data.get("version")
    if isinstance(version, int) and version > KIT_VERSION:
        raise RequestError(
            f"the kit has version {version} and this voile reads up to {KIT_VERSION}",
            where=str(path),
            instead="use a newer voile",
        )
    if version == 1:
        raise RequestError("an older voile wrote this kit", where=str(path), instead="fit again")
    if version != KIT_VERSION:
        raise DamagedError("the kit's index has no version", where=str(path), instead="fit again")
    index = check_model(KitIndex, data, "the kit's index", path)
    if kind is not None and index.kind != kind:
        raise RequestError(
            f"this is a kit of {index.kind}", where=str(path), instead=f"use voile {index.kind}"
        )
    return raw, index


def read_tables(path: Path, entries: Mapping[str, IndexEntry]) -> dict[str, pa.Table]:
    """Read a kit's tables, if they are within the limits."""
    files = {name: _open_table(path / Path(one.file).name, one) for name, one in entries.items()}
    chunks = [chunk for file in files.values() for chunk in _chunks(file)]
    if not all(PLAIN.issuperset(chunk.encodings) for chunk in chunks):
        said = "a table of the kit has an encoding that voile never writes"
        raise DamagedError(said, where=str(path))
    values = sum(chunk.num_values for chunk in chunks)
    if values > MOST_VALUES or sum(chunk.total_uncompressed_size for chunk in chunks) > MOST_BYTES:
        raise DamagedError(
            f"the kit's tables contain more than {MOST_VALUES:,} values or {MOST_BYTES >> 30} GiB",
            where=str(path),
        )
    return {name: _read_table(file, path) for name, file in files.items()}


def _open_table(place: Path, entry: IndexEntry) -> pq.ParquetFile:
    try:
        raw = place.read_bytes()
    except OSError:
        raise DamagedError(
            "the kit lacks a file that its index lists", where=str(place), instead="fit again"
        ) from None
    if hashlib.sha256(raw).hexdigest() != entry.sha256:
        raise TamperedError(
            "the file does not match the kit's index", where=str(place), instead="fit again"
        )
    with _whole(place):
        return pq.ParquetFile(pa.BufferReader(raw))


@contextmanager
def _whole(place: Path) -> Iterator[None]:
    try:
        with unreadable(str(place), "parquet"):
            yield
    except SourceError as error:
        raise DamagedError(error.what, where=error.where, instead=error.instead) from None


def _chunks(file: pq.ParquetFile) -> Iterator[Any]:
    about = file.metadata
    for i in range(about.num_row_groups):
        group = about.row_group(i)
        yield from (group.column(j) for j in range(group.num_columns))


def _read_table(file: pq.ParquetFile, path: Path) -> pa.Table:
    """Read a whole table. Stop if its pages are larger than the file states."""
    batches, size = [], 0
    with _whole(path):
        # `read` starts a thread pool, with which a command that ends soon after would abort
        for batch in file.iter_batches(BATCH_ROWS, use_threads=False):
            batch.validate(full=True)
            batches.append(batch)
            size += batch.nbytes
            if size > MOST_BYTES:
                raise DamagedError("a table of the kit is larger than it states", where=str(path))
        return pa.Table.from_batches(batches, file.schema_arrow)
