"""A small file of each format that voile reads, for damaging."""

from __future__ import annotations

import gzip
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
from tests.hostile.mutating import damaged

from voile.data import Source, open_source, open_writer
from voile.engines.counting import count_combinations
from voile.proposals.documents import examine_documents
from voile.proposals.items import examine_items
from voile.proposals.readings import examine_readings
from voile.proposals.tables import examine

ROWS = 24
PEOPLE = pa.table(
    {
        "person": [f"CANARYPERSON{i}" for i in range(ROWS)],
        "zip": pa.array([None if i % 7 == 0 else f"{500 + i % 5:05}" for i in range(ROWS)]),
        "age": [20 + i % 9 for i in range(ROWS)],
        "pay": [i / 3 for i in range(ROWS)],
        "note": ['says "hi"; x,y\nnext\tCANARYLINE'] * ROWS,
        "born": pa.array([7300 + i for i in range(ROWS)], pa.int32()).cast(pa.date32()),
    }
)
BASKETS = pa.table({"items": [[i % 5, 7 + i % 3] for i in range(ROWS)]})
LABELLED = BASKETS.append_column("label", pa.array([f"c{i % 2}" for i in range(ROWS)]))


def _uncounted(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_nested(kind)


@dataclass(frozen=True)
class Damaged:
    """A source in a file of this name."""

    name: str
    write: Callable[[Path], None]
    cases: int = 30

    def make(self, folder: Path) -> None:
        self.write(folder / self.name)

    def copy(self, folder: Path, scratch: Path) -> None:
        shutil.copy(folder / self.name, scratch)

    def damage(self, folder: Path, scratch: Path, rng: random.Random) -> None:
        (scratch / self.name).write_bytes(damaged((folder / self.name).read_bytes(), rng))

    def read(self, scratch: Path) -> None:
        use(open_source(scratch / self.name))


def use(source: Source) -> None:
    """Read a source as `inspect` and `fit` do."""
    for batch in source.batches():
        batch.validate(full=True)
        batch.to_pylist()
    for look in (examine, examine_items, examine_readings, examine_documents):
        look(source).to_toml()
    countable = [name for name, kind in source.columns.items() if not _uncounted(kind)]
    if countable:
        count_combinations(source, countable[:2])


def written(table: pa.Table) -> Callable[[Path], None]:
    """Return what writes a table as voile does."""

    def write(path: Path) -> None:
        with open_writer(path, table.schema) as writer:
            for batch in table.to_batches(max_chunksize=7):
                writer.write(batch)

    return write


def zipped(table: pa.Table) -> Callable[[Path], None]:
    """Return what writes a table, compressed."""

    def write(path: Path) -> None:
        plain = path.with_suffix("")
        written(table)(plain)
        path.write_bytes(gzip.compress(plain.read_bytes(), mtime=0))

    return write


def nested(path: Path, *, stream: bool = False, compression: str | None = None) -> None:
    """Write an Arrow file of dictionaries, lists, structs and views."""
    table = PEOPLE.append_column("coded", PEOPLE["zip"].dictionary_encode())
    table = table.append_column("lists", BASKETS["items"])
    structs = [{"a": i, "b": str(i)} if i % 4 else None for i in range(ROWS)]
    table = table.append_column("structs", pa.array(structs))
    table = table.append_column("views", PEOPLE["note"].cast(pa.string_view()))
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with path.open("wb") as file, new(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=7)


def _windows(path: Path) -> None:
    text = "name,city\n" + "".join(f"CANARYPERSON{i},Zürich é\n" for i in range(ROWS))
    path.write_bytes(text.encode("windows-1252"))


def _utf16(path: Path) -> None:
    path.write_bytes(("name;city\n" + "CANARYPERSON;Zürich\n" * ROWS).encode("utf-16"))


def _excel(path: Path) -> None:
    PEOPLE.to_pandas().to_excel(path, index=False)


def _sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        PEOPLE.to_pandas().to_sql("people", connection, index=False)


def _statistics(path: Path) -> None:
    frame = PEOPLE.drop_columns(["note"]).to_pandas().astype({"zip": str, "born": str})
    getattr(
        pyreadstat, {".dta": "write_dta", ".sav": "write_sav", ".xpt": "write_xport"}[path.suffix]
    )(frame, str(path))


WRITTEN: dict[str, Callable[[Path], None]] = {
    "people.csv": written(PEOPLE),
    "people.tsv": written(PEOPLE),
    "people.txt": _windows,
    "people.csv.gz": zipped(PEOPLE),
    "sixteen.csv": _utf16,
    "people.jsonl": written(PEOPLE),
    "people.jsonl.gz": zipped(PEOPLE),
    "people.parquet": written(PEOPLE),
    "nested.parquet": lambda path: pq.write_table(
        PEOPLE.append_column("lists", BASKETS["items"]), path, row_group_size=7
    ),
    "people.arrow": written(PEOPLE),
    "nested.arrow": nested,
    "stream.arrow": partial(nested, stream=True),
    "lz4.arrow": partial(nested, compression="lz4"),
    "zstd.feather": partial(nested, compression="zstd"),
    "people.xlsx": _excel,
    "people.duckdb": written(PEOPLE),
    "people.sqlite": _sqlite,
    "people.dta": _statistics,
    "people.sav": _statistics,
    "people.xpt": _statistics,
    "baskets.dat": written(BASKETS),
    "baskets.svm": written(LABELLED),
}
SOURCES = {name: Damaged(name, write) for name, write in WRITTEN.items()}
