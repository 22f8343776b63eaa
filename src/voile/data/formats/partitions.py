"""A folder of Parquet files whose folders may name columns: ``visits/year=2024/part-0.parquet``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from urllib.parse import unquote

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data.formats.arrow_files import ParquetSource
from voile.data.formats.part_files import files_of, part_files
from voile.data.formats.several import SeveralFiles
from voile.data.source import Source, SourcePiece, state_of
from voile.data.stores.path import StorePath, locate_file

NULL = "__HIVE_DEFAULT_PARTITION__"
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


class PartitionedSource(SeveralFiles):
    """The Parquet files of a folder as one table, read in the order of their names.

    Each ``name=value`` in the path of a file is a column, which needs a role like any other. The
    column contains integers if every value is written as an integer, otherwise text ("007" is
    text). It is null if the name of the folder marks null. It is an error if files appear,
    disappear or change during reading.
    """

    def __init__(self, path: Path | StorePath) -> None:
        self.path = path
        files = list(files_of(path))
        if not files:
            raise RequestError(
                "the folder contains no Parquet files",
                where=str(path),
                instead="name a folder with Parquet files",
            )
        self._state = _state(path)
        given = [keys_of(_below(file, path)) for file in files]
        self._parts = [
            PartitionFile(ParquetSource(file), keys)
            for file, keys in zip(files, _type_partitions(given, path.name), strict=True)
        ]
        super().__init__(path.name, self._parts)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        self._check_unchanged()
        yield from super()._read_batches(columns, rows)
        self._check_unchanged()

    def folder_columns(self) -> Collection[str]:
        return {name for part in self._parts for name in part.keys.schema.names}

    def about_rows(self) -> int:
        """Return the number of rows from the footers of the files."""
        return sum(part.file.about_rows() for part in self._parts)

    def fingerprint(self) -> str:
        """Return a hash of the files' paths below the folder and of their own hashes."""
        digest = sha256()
        for part in self._parts:
            place = _below(part.file.path, self.path).as_posix()
            digest.update(f"{part.fingerprint()} {place}\0".encode())
        self._check_unchanged()
        return digest.hexdigest()

    def _check_unchanged(self) -> None:
        if _state(self.path) != self._state:
            raise SourceError(
                "the folder's files changed while voile read them",
                where=self.name,
                instead="wait, and run again",
            )


class PartitionFile(Source):
    """A file with the values of its folders, which are the same for all its rows."""

    def __init__(self, file: ParquetSource, keys: pa.RecordBatch) -> None:
        self.file, self.keys = file, keys
        super().__init__(file.name, "parquet", [*file.schema(), *keys.schema])

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        said = {
            name: column[0] for name, column in zip(self.keys.schema.names, self.keys, strict=True)
        }
        inside = [name for name in columns if name not in said]
        schema = self.schema(columns)
        for batch in self.file.batches(inside or list(self.file.columns)[:1], batch_rows=rows):
            arrays = [
                pa.repeat(said[name], len(batch)) if name in said else batch[name]
                for name in columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def pieces(self, columns: Sequence[str], directory: Path, size: int) -> Iterator[SourcePiece]:
        for piece in self.file.pieces(columns, directory, size):
            yield replace(piece, keys=self.keys)

    def fingerprint(self) -> str:
        return self.file.fingerprint()


def open_piece(piece: SourcePiece) -> Source:
    """Open the rows of a piece. This works in any process."""
    source = ParquetSource(locate_file(piece.file))
    source.groups = range(*piece.groups)
    return source if piece.keys is None else PartitionFile(source, piece.keys)


def _state(folder: Path | StorePath) -> list[tuple[object, ...]]:
    if isinstance(folder, StorePath):
        return list(folder.states())
    return [(file, *state_of(file)) for file in part_files(folder)]


def _below(file: Path | StorePath, folder: Path | StorePath) -> PurePath:
    """Return the path of a file relative to a folder."""
    if isinstance(file, StorePath) and isinstance(folder, StorePath):
        return file.relative_to(folder)
    assert isinstance(file, Path)
    assert isinstance(folder, Path)
    return file.relative_to(folder)


def keys_of(place: PurePath) -> dict[str, str | None]:
    """Return the keys and values in the names of a file's folders.

    >>> keys_of(Path("year=2024/city=S%C3%A3o/part-0.parquet"))
    {'year': '2024', 'city': 'São'}
    """
    pairs = [folder.partition("=") for folder in place.parent.parts if "=" in folder]
    return {unquote(name): None if value == NULL else unquote(value) for name, _, value in pairs}


def _type_partitions(given: Sequence[Mapping[str, str | None]], name: str) -> list[pa.RecordBatch]:
    """Return one row for each file, with the columns in the names of its folders.

    A column contains integers if every value is written as an integer.

    Raises RequestError: the folders of the files have different columns.
    """
    if any(list(keys) != list(given[0]) for keys in given):
        raise RequestError(
            "the files are in folders that name different partition columns, or name "
            "them in different orders",
            where=name,
            instead="name one of these folders",
        )
    types = {}
    for column in given[0]:
        values = {keys[column] for keys in given} - {None}
        is_whole = all(_WHOLE.fullmatch(value) for value in values if value is not None)
        types[column] = pa.int64() if values and is_whole else pa.string()
    return [
        pa.record_batch(
            {name: pa.array([x], pa.string()).cast(types[name]) for name, x in keys.items()}
        )
        for keys in given
    ]
