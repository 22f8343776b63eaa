"""A recipient's verb: released intervals as values with weights, from the public codebook alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.release.manifest import Release
from voile.tables.recoding.boxes import read_codebook
from voile.tables.recoding.codebook import Codebook
from voile.tables.recoding.possible import Possible, expected

LARGEST = 5_000_000


def expand(release: Release, columns: Sequence[str], *, weight: str, row: str) -> pa.Table:
    """Return released rows as `Release.expand` does. Cost: O(rows made x columns)."""
    book = read_codebook(release.public["policy"])
    generalised = [column.column for column in book.columns]
    for name in columns:
        if name not in generalised:
            raise RequestError(
                f"the release generalises no column {name}", instead=nearest(name, generalised)
            )
    table = release.rows().read()
    codes = book.released_codes(table)
    possible = {c.column: Possible.of(c) for c in book.columns if c.column in columns}
    sizes = {name: one.sizes[codes[:, generalised.index(name)]] for name, one in possible.items()}
    times = np.ones(len(codes))
    for size in sizes.values():
        times *= size
    _check_size(times.sum(), columns)
    repeats = times.astype(np.int64)
    origin = np.repeat(np.arange(len(codes)), repeats)
    nth = np.arange(len(origin)) - (np.cumsum(repeats) - repeats)[origin]
    cells = {}
    for place, column in enumerate(book.columns):
        interval = codes[origin, place]
        if column.column in possible:
            nth, own = np.divmod(nth, sizes[column.column][origin])
            cells[column.column] = possible[column.column].cells(interval, own)
        else:
            cells[column.column] = expected(column).take(pa.array(interval))
    made = _in_order(book, table, cells, origin)
    for name, added in ((weight, 1 / times[origin]), (row, origin)):
        if name in made:
            raise RequestError(
                f"the release has a column {name} of its own",
                instead="name the added columns by weight and row",
            )
        made[name] = pa.array(added)
    return pa.table(made)


def _check_size(rows: float, columns: Sequence[str]) -> None:
    if rows > LARGEST:
        raise RequestError(
            f"{', '.join(columns)} would make {rows:,.0f} rows, and {LARGEST:,} is the most",
            instead="ask for fewer columns at once",
        )


def _in_order(
    book: Codebook, table: pa.Table, cells: dict[str, pa.Array], origin: NDArray[np.int64]
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return all columns where they stand in the release, generalised ones under their own name."""
    named = {released: c.column for c in book.columns for released in c.released}
    made = {}
    for name in table.column_names:
        if name in named:
            made[named[name]] = cells[named[name]]
        else:
            made[name] = table.column(name).take(pa.array(origin))
    return made
