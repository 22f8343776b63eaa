"""Text columns of the table: read in the order of the released rows, and written back there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from voile.data import Source, open_source, open_writer
from voile.data.opening import open_released
from voile.data.source import BATCH_ROWS, OFFLINE
from voile.release.manifest import ROW

_GATHER = """
    COPY (
        SELECT texts.* EXCLUDE ("row")
        FROM read_parquet($rows, file_row_number = true) AS released
        JOIN read_parquet($texts) AS texts USING ("row")
        ORDER BY released.file_row_number
    ) TO '{to}' (FORMAT parquet)
"""


def gather_texts(table: Source, rows: Source, columns: tuple[str, ...], folder: Path) -> Source:
    """Write some columns of the released rows to a file, in the order of the release."""
    every, gathered = folder / "every.parquet", folder / "texts.parquet"
    kinds = [(name, table.columns[name]) for name in columns]
    schema = pa.schema([(ROW, pa.int64()), *kinds])
    first = 0
    with pq.ParquetWriter(every, schema) as file:
        for batch in table.batches(columns):
            numbers = pa.array(np.arange(first, first + len(batch)))
            file.write_batch(pa.RecordBatch.from_arrays([numbers, *batch.columns], schema=schema))
            first += len(batch)
    released = folder / "rows.parquet"
    pq.write_table(rows.read([ROW]), released)
    with duckdb.connect(config={**OFFLINE, "temp_directory": str(folder)}) as engine:
        places = {"rows": str(released), "texts": str(every)}
        engine.execute(_GATHER.format(to=str(gathered).replace("'", "''")), places)
    every.unlink()
    return open_source(gathered)


def put_texts(table: Path, texts: Path, rows: Path, column: str) -> None:
    """Add a column of texts to a written table, with null for withheld texts.

    `rows` contains, for each text, the number of its row in the table.
    """
    put_columns(table, {column: _cells(open_source(texts), open_source(rows), column)})


def put_columns(table: Path, columns: Mapping[str, Iterator[str | None]]) -> None:
    """Write columns of text into a written table, with one cell per row.

    Existing columns are replaced, and new columns come last.
    """
    release = open_released(table)
    new = [name for name in columns if name not in release.columns]
    schema = pa.schema([*release.schema(), *((name, pa.string()) for name in new)])
    place = table.with_name(f"new-{table.name}")
    with open_writer(place, schema) as writer:
        for batch in release.batches():
            cells = dict(zip(batch.schema.names, batch.columns, strict=True))
            cells |= {
                name: pa.array(islice(own, len(batch)), schema.field(name).type)
                for name, own in columns.items()
            }
            writer.write(pa.RecordBatch.from_pydict(cells, schema=schema))
    os.replace(place, table)


def _cells(texts: Source, rows: Source, column: str) -> Iterator[str | None]:
    """Yield the text of each row of the table, in order, without end."""
    numbers = (n for batch in rows.batches([ROW]) for n in batch.column(0).to_pylist())
    found = (x for batch in texts.batches([column], batch_rows=BATCH_ROWS // 16)
             for x in batch.column(0).to_pylist())  # fmt: skip
    number, text = next(numbers, None), next(found, None)
    row = 0
    while True:
        if row == number:
            yield text
            number, text = next(numbers, None), next(found, None)
        else:
            yield None
        row += 1
