"""Expand released intervals to values with weights, as a recipient, from the public codebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.release.manifest import StoredRelease
from voile.tables.recoding.boxes import read_codebook
from voile.tables.recoding.codebook import ReleaseCodebook
from voile.tables.recoding.marginals import ColumnMarginal, marginals_in
from voile.tables.recoding.spread import IntervalSpread

LARGEST = 5_000_000


def expand(release: StoredRelease, columns: Sequence[str], *, weight: str, row: str) -> pa.Table:
    """Return released rows as `StoredRelease.expand` does.

    Cost: O(resulting rows x columns).
    """
    book = read_codebook(release.public["policy"])
    generalised = [column.column for column in book.columns]
    for name in columns:
        if name not in generalised:
            raise RequestError(
                f"the release generalises no column {name}", instead=nearest(name, generalised)
            )
    table = release.rows().read()
    codes = book.released_codes(table)
    marginals = marginals_in(release.public)
    for one in marginals.values():
        if one.column not in generalised:
            raise one.stranger
        one.check_public()
    spread = _spread_columns(book, marginals, codes)
    sizes = [
        spread[place].sizes[codes[:, place]] if name in columns else np.ones(1, dtype=np.int64)
        for place, name in enumerate(generalised)
    ]
    times = np.ones(len(codes))
    for size in sizes:
        times *= size
    _check_size(times.sum(), columns)
    repeats = times.astype(np.int64)
    origin = np.repeat(np.arange(len(codes)), repeats)
    nth = np.arange(len(origin)) - (np.cumsum(repeats) - repeats)[origin]
    cells, weights = {}, np.ones(len(origin))
    for place, name in enumerate(generalised):
        interval = codes[origin, place]
        if name in columns:
            nth, own = np.divmod(nth, sizes[place][origin])
            cells[name], likely = spread[place].values(interval, own)
            weights *= likely
        else:
            cells[name] = spread[place].expected_cells.take(pa.array(interval))
    made = _in_order(book, table, cells, origin)
    for name, added in ((weight, weights), (row, origin)):
        if name in made:
            raise RequestError(
                f"the release has a column {name} of its own",
                instead="name the added columns by weight and row",
            )
        made[name] = pa.array(added)
    return pa.table(made)


def _spread_columns(
    book: ReleaseCodebook, marginals: Mapping[str, ColumnMarginal], codes: NDArray[np.int32]
) -> list[IntervalSpread]:
    """Return how the rows of each interval are spread over its values, by column."""
    return [
        IntervalSpread.of(
            column,
            marginals.get(column.column),
            np.bincount(own, minlength=len(column.entries)).astype(np.float64),
        )
        for column, own in zip(book.columns, codes.T, strict=True)
    ]


def _check_size(rows: float, columns: Sequence[str]) -> None:
    if rows > LARGEST:
        raise RequestError(
            f"{', '.join(columns)} would make {rows:,.0f} rows, and {LARGEST:,} is the most",
            instead="ask for fewer columns at once",
        )


def _in_order(
    book: ReleaseCodebook, table: pa.Table, cells: dict[str, pa.Array], origin: NDArray[np.int64]
) -> dict[str, pa.Array | pa.ChunkedArray]:
    """Return all columns in the order of the release, generalised ones under their own name."""
    named = {released: c.column for c in book.columns for released in c.released}
    made = {}
    for name in table.column_names:
        if name in named:
            made[named[name]] = cells[named[name]]
        else:
            made[name] = table.column(name).take(pa.array(origin))
    return made
