"""Open a source: determine its kind, and choose the reader."""

from __future__ import annotations

import csv
import glob
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import TypeAlias

import pyarrow as pa

from voile.core.arguments import check_arguments
from voile.core.errors import RequestError, SourceError
from voile.data.files.memory import MemoryPath
from voile.data.formats.part_files import at_version, is_delta, is_partitioned
from voile.data.postgres.address import POSTGRESQL, DatabaseAddress
from voile.data.source import Source, TableSource, without_rows
from voile.data.spark.session import SCHEME, is_spark
from voile.data.standard_input import is_pipe, keep_pipe
from voile.data.stores.address import hide_secrets, scheme_of
from voile.data.stores.path import StorePath
from voile.data.text import check_text

PARQUET = ".parquet"
TABLE = ".table"
"""The suffix of a file that represents a released table of the DuckDB file next to it."""
TABLES = (POSTGRESQL, TABLE)
"""Suffixes of files that represent a table.

The table's rows are compared with their hash at opening.
"""


Opener: TypeAlias = Callable[..., Source]


@dataclass(frozen=True)
class FileFormat:
    """How to read files with certain suffixes.

    load : imports the reader, and returns it.
    choices : the options of the reader. They select a table, the encoding of text, and the
        treatment of bytes that are not text.
    is_text : whether the files are text. Files of other formats are rejected by their first bytes.
    """

    load: Callable[[], Opener]
    choices: tuple[str, ...] = ()
    is_text: bool = False

    def open(self, path: Path | StorePath, **asked: str) -> Source:
        if self.is_text and isinstance(path, Path):
            check_text(path, encoding=asked.get("encoding"))
        return self.load()(path, **asked)


def _load_delimited() -> Opener:
    from voile.data.formats.delimited import open_delimited

    return open_delimited


def _load_jsonlines() -> Opener:
    from voile.data.formats.jsonlines import JsonLinesSource

    return JsonLinesSource


def _load_arrow() -> Opener:
    from voile.data.formats.arrow_files import ArrowSource

    return ArrowSource


def _load_excel() -> Opener:
    from voile.data.formats.excel import ExcelSource

    return ExcelSource


def _load_duckdb() -> Opener:
    from voile.data.formats.databases import DuckDBSource

    return DuckDBSource


def _load_sqlite() -> Opener:
    from voile.data.formats.databases import SQLiteSource

    return SQLiteSource


def _load_partitioned() -> Opener:
    from voile.data.formats.partitions import PartitionedSource

    return PartitionedSource


def _load_delta() -> Opener:
    from voile.data.formats.delta import DeltaSource

    return DeltaSource


def _load_statistics() -> Opener:
    from voile.data.formats.statistics import StatisticsSource

    return StatisticsSource


def _load_parquet() -> Opener:
    from voile.data.formats.arrow_files import ParquetSource

    return ParquetSource


def _load_transaction() -> Opener:
    from voile.data.formats.transactions import open_transactions

    return open_transactions


def _load_svmlight() -> Opener:
    from voile.data.formats.transactions import SvmlightSource

    return SvmlightSource


def _load_postgres() -> Opener:
    from voile.data.postgres.release import open_released

    return open_released


def _load_table() -> Opener:
    from voile.data.table_pointers import open_released

    return open_released


_CSV = FileFormat(_load_delimited, ("table", "encoding", "errors"), is_text=True)
_JSON = FileFormat(_load_jsonlines, ("encoding", "errors"), is_text=True)
_TRANSACTIONS = FileFormat(_load_transaction, is_text=True)
_SVMLIGHT = FileFormat(_load_svmlight, is_text=True)
_ARROW = FileFormat(_load_arrow)
_EXCEL = FileFormat(_load_excel, ("table",))
_DUCKDB = FileFormat(_load_duckdb, ("table",))
_SQLITE = FileFormat(_load_sqlite, ("table",))
_PARTITIONED = FileFormat(_load_partitioned)
_DELTA = FileFormat(_load_delta, ("version",))
_STATISTICS = FileFormat(_load_statistics, ("encoding",))

FORMATS = {
    ".csv": _CSV, ".tsv": _CSV, ".txt": _CSV,
    ".csv.gz": _CSV, ".tsv.gz": _CSV, ".txt.gz": _CSV,
    ".jsonl": _JSON, ".ndjson": _JSON, ".jsonl.gz": _JSON, ".ndjson.gz": _JSON,
    PARQUET: FileFormat(_load_parquet),
    ".arrow": _ARROW, ".feather": _ARROW,
    ".xlsx": _EXCEL, ".xls": _EXCEL,
    ".duckdb": _DUCKDB,
    ".sqlite": _SQLITE, ".sqlite3": _SQLITE, ".db": _SQLITE,
    ".sas7bdat": _STATISTICS, ".xpt": _STATISTICS, ".dta": _STATISTICS, ".sav": _STATISTICS,
    ".dat": _TRANSACTIONS, ".dat.gz": _TRANSACTIONS,
    ".svm": _SVMLIGHT, ".svmlight": _SVMLIGHT, ".svm.gz": _SVMLIGHT,
    POSTGRESQL: FileFormat(_load_postgres),
    TABLE: FileFormat(_load_table),
}  # fmt: skip
"""The reader of each file format, by the suffix of the file name."""


@check_arguments
def open_source(
    thing: object,
    *,
    table: str | None = None,
    encoding: str | None = None,
    errors: str | None = None,
) -> Source:
    """Open a source: a file, a folder of Parquet, a pattern, a database's table or a frame.

    A file or folder may be on this machine or in a store.

    Parameters
    ----------
    thing : one of these sources. An open source is returned as it is.

        - a path; "-" or a pipe (see `voile.data.standard_input`)
        - a pattern such as "visits-*.csv", for files with the same columns
        - a CSV file without column names, "visits.csv::no-header"
        - a folder of Parquet files. Its own folders may name columns, as in
          "visits/year=2024/part-0.parquet"
        - a Delta table, "visits" at its newest version or "visits@v12"
        - a file or such a folder of a store: "s3://bucket/visits", "gs://", "abfs://" or
          "https://host/visits.csv"
        - a table, as "county.duckdb::patients", "postgresql://host/county::clinic.patients",
          "service=county::clinic.patients" or "spark:clinic.patients"
        - a data frame of Spark, or any frame that `voile.data.frames.FrameSource` takes
    table : the table or sheet, instead of `::`; by default the only one.
    encoding : the encoding of a text file. By default voile finds it.
    errors : as in `open`. With "replace", undecodable bytes in CSV or JSON lines become U+FFFD.
        Other formats have nothing to replace.

    Raises
    ------
    RequestError : there is no such file, table or format; two columns have one name.
    SourceError : a file is empty, damaged, cut short, or not text; a database is out of reach.
    DecodingError : a source holds bytes that are not text; it could be read with "replace".
    """
    if isinstance(thing, Source):
        return thing
    if isinstance(thing, MemoryPath):
        return TableSource(_rows_of(thing), thing.name, "memory")
    if is_spark(thing):
        from voile.data.spark.source import SparkSource

        return SparkSource(thing, "Spark frame")
    if not isinstance(thing, str | os.PathLike):
        from voile.data.frames import FrameSource

        return FrameSource(thing)
    if (address := DatabaseAddress.parse(thing)) is not None:
        return _open_address(address, table, encoding)
    if os.fspath(thing).startswith(SCHEME):
        from voile.data.spark.source import open_table

        return open_table(os.fspath(thing))
    file, _, inside = os.fspath(thing).partition("::")
    if (stored := StorePath.parse(file)) is not None:
        return _open_stored(
            stored, _list_requested(stored.name, inside or None, table, encoding, errors)
        )
    check_address(thing)
    path, named = split_table(thing)
    if is_pipe(path):
        path = keep_pipe(path)
    given = _list_requested(path.name, named, table, encoding, errors)
    if (at := _open_version(path, given)) is not None:
        return at
    if not path.exists() and glob.has_magic(str(path)):
        paths = [Path(found) for found in sorted(glob.glob(str(path), recursive=True))]
        if not paths:
            raise RequestError(
                "no file matches this pattern", where=str(path), instead="correct the pattern"
            )
        from voile.data.formats.several import SeveralFiles

        return SeveralFiles(path.name, [_open(one, given) for one in paths])
    return _open(path, given)


def _list_requested(
    where: str, named: str | None, table: str | None, encoding: str | None, errors: str | None
) -> dict[str, str]:
    asked = {"table": _one_table(where, named, table), "encoding": encoding, "errors": errors}
    return {name: value for name, value in asked.items() if value is not None}


def check_rows(source: Source) -> Source:
    """Raise an error if a quick check shows that a source has column names and no rows."""
    if not source.has_rows():
        raise without_rows(source.name)
    return source


def open_released(path: Path | MemoryPath) -> Source:
    """Open the contents of a release: a source of any kind, or a folder of files."""
    if isinstance(path, Path) and path.is_dir() and not is_partitioned(path):
        from voile.data.formats.folders import FolderSource

        return FolderSource(path)
    return open_source(path)


def _rows_of(place: MemoryPath) -> pa.Table:
    """Return rows in memory, either as stored or parsed from CSV, in which all cells are text."""
    if place.rows is not None:
        return place.rows
    if not place.is_file():
        raise RequestError("the file does not exist", where=str(place), instead="correct the path")
    names, *rows = csv.reader(place.open(newline=""))
    cells = zip(*rows, strict=True) if rows else [()] * len(names)
    return pa.table({name: pa.array(c, pa.string()) for name, c in zip(names, cells, strict=True)})


def check_address(thing: str | os.PathLike[str], *, written: bool = False) -> None:
    """Raise RequestError for an address in place of a local file."""
    scheme = scheme_of(thing)
    if scheme is None or DatabaseAddress.parse(thing) is not None:
        return
    remedy = "write a file, and upload that" if written else "download the file first"
    if scheme == "file":
        remedy = "give the path alone"
    verb = "written" if written else "read"
    where = hide_secrets(os.fspath(thing))
    raise RequestError(f"{scheme} addresses cannot be {verb} here", where=where, instead=remedy)


def split_table(thing: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """Split "file::table". A table of PostgreSQL is represented by a file of its name.

    >>> split_table("county.duckdb::patients")
    (PosixPath('county.duckdb'), 'patients')
    >>> split_table("service=county::patients")
    (PosixPath('patients.postgresql'), 'service=county::patients')
    """
    address = DatabaseAddress.parse(thing)
    if address is not None:
        return Path(address.file), os.fspath(thing)
    path, mark, table = os.fspath(thing).partition("::")
    return Path(path), table if mark else None


def split_output(out: str | os.PathLike[str]) -> tuple[Path, str | None]:
    """Split an output into the file with its name, and the table that the file represents.

    >>> split_output("county.duckdb::research.visits")
    (PosixPath('county.duckdb.research.visits.table'), 'county.duckdb::research.visits')
    >>> split_output("county.duckdb")
    (PosixPath('county.duckdb'), None)
    """
    file, table = split_table(out)
    if table and file.suffix.lower() == TABLE:
        raise RequestError(
            "a release of a database has its own file name, FILE.duckdb.TABLE",
            where=file.name,
            instead="write FILE.duckdb::TABLE",
        )
    if not table or file.suffix.lower() != ".duckdb":
        return file, table
    table = re.sub("^main[.]", "", table, flags=re.IGNORECASE)
    if "/" in table:
        raise RequestError(
            "the name of a released table contains a slash",
            where=file.name,
            instead="use a name without a slash",
        )
    if not all(table.split(".", 1)):
        raise RequestError(
            "the address does not contain a table",
            where=os.fspath(out),
            instead="write SCHEMA.TABLE after ::",
        )
    return file.with_name(f"{file.name}.{table}{TABLE}"), f"{file}::{table}"


def find_format(path: Path | StorePath) -> FileFormat:
    ends = [suffix.lower() for suffix in PurePath(path.name).suffixes]
    known = FORMATS.get("".join(ends[-2:])) or FORMATS.get("".join(ends[-1:]))
    if known is None:
        shown = f"{''.join(ends[-1:])} files are not known" if ends else "has no suffix"
        raise RequestError(shown, where=path.name, instead=f"known are {', '.join(FORMATS)}")
    return known


def _open_address(address: DatabaseAddress, table: str | None, encoding: str | None) -> Source:
    from voile.data.postgres.source import PostgresSource

    if encoding is not None:
        raise RequestError(
            "the file's format has a fixed encoding, and takes no --encoding",
            where=address.name,
            instead="leave --encoding out",
        )
    chosen = _one_table(address.name, address.table, table)
    return PostgresSource(replace(address, table=chosen))


def _one_table(where: str, named: str | None, asked: str | None) -> str | None:
    if named and asked and named != asked:
        raise RequestError(
            "the table is given twice: after :: and in the option",
            where=where,
            instead="give the table once",
        )
    return asked or named


def _open_stored(path: StorePath, asked: dict[str, str]) -> Source:
    """Open a path in a store or on the web: Parquet in place, other formats as a private copy."""
    if (at := _open_version(path, asked)) is not None:
        return at
    if path.is_dir():
        return _by(_DELTA if is_delta(path) else _PARTITIONED, path, asked)
    path.check_exists()
    known = find_format(path)
    if not path.size() and not path.is_web:
        raise SourceError("the file is empty", where=path.name, instead="choose a file with rows")
    if path.suffix.lower() == PARQUET and path.is_seekable():
        return _by(known, path, asked)
    from voile.data.stores.copies import copy_of

    return _open(copy_of(path), asked)


def _open_version(path: Path | StorePath, asked: dict[str, str]) -> Source | None:
    """Open a Delta table at the version at the end of its name, if there is one."""
    found = at_version(path)
    return found and _by(_DELTA, found[0], {**asked, "version": str(found[1])})


def _open(path: Path, asked: dict[str, str]) -> Source:
    if is_delta(path):
        return _by(_DELTA, path, asked)
    _check_file(path)
    return _by(_PARTITIONED if path.is_dir() else find_format(path), path, asked)


def _by(known: FileFormat, path: Path | StorePath, asked: dict[str, str]) -> Source:
    for name in asked.keys() - set(known.choices) - {"errors"}:  # other formats do not decode text
        raise RequestError(
            f"the file's format takes no {name}", where=path.name, instead=f"leave {name} out"
        )
    return known.open(path, **{name: asked[name] for name in asked.keys() & set(known.choices)})


def _check_file(path: Path) -> None:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise RequestError(
            "the file does not exist", where=str(path), instead=_nearby(path)
        ) from None
    except OSError as error:
        raise RequestError(
            f"the file cannot be opened ({error.strerror})", where=str(path)
        ) from None
    if path.is_dir():
        _check_folder(path)
    elif not size:
        raise SourceError("the file is empty", where=path.name, instead="choose a file with rows")


def _check_folder(path: Path) -> None:
    """Raise RequestError for a folder, unless all tables in it are Parquet files."""
    files = [file for file in path.rglob("*") if file.is_file() and file.name[0] not in "._"]
    ends = sorted({end for file in files if (end := _known_end(file)) is not None})
    if is_partitioned(path) and ends == [PARQUET]:
        return
    if not ends:
        raise RequestError(
            "the folder contains no table", where=str(path), instead="name a file with a table"
        )
    others = {file.suffix or "no end" for file in files if _known_end(file) is None}
    *most, last = [*ends, *sorted(others)]
    reason = f"is a folder of {last} files, and only a folder of Parquet files is one table"
    if most:
        reason = f"is a folder with files of several types: {', '.join(most)} and {last}"
    raise RequestError(
        reason,
        where=str(path),
        instead=f"name a file, or several files of one type by a pattern such as {path}/*{ends[0]}",
    )


def _known_end(file: Path) -> str | None:
    """Return the suffix of a file's name that selects a format, or None."""
    ends = [suffix.lower() for suffix in file.suffixes]
    return next((end for n in (2, 1) if (end := "".join(ends[-n:])) in FORMATS), None)


def _nearby(path: Path) -> str | None:
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    names = sorted(entry.name for entry in path.parent.iterdir())
    close = get_close_matches(path.name, names, n=3)
    return f"did you mean {' or '.join(close)}?" if close else None
