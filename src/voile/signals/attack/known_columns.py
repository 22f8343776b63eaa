"""Columns that an adversary knows about everyone, encoded for learners."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.data import Source
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.readings.forms import NUMBER

COMMONEST = 30  # distinct values of a name column
AS_NUMBER = 0.9  # share of numeric texts above which a column is numeric


def known_columns(names: Sequence[str], *people: tuple[Source, NDArray[np.int64]]) -> list[Floats]:
    """Return the columns of each source's rows as features, (rows, features) each.

    All sources have the same features: numbers, indicators of missing numbers, and one-hot names.
    """
    parts = [_cells(source, names, rows) for source, rows in people]
    table = pa.concat_tables(parts).combine_chunks()
    found = [_features(table[name].combine_chunks()) for name in names]
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return np.split(np.concatenate(found, axis=1), ends)


def _cells(source: Source, names: Sequence[str], rows: NDArray[np.int64]) -> pa.Table:
    """Return columns of rows as text, whatever type the source has."""
    batches = source.batches(list(names))
    table = pa.Table.from_batches(batches, source.schema(list(names))).take(pa.array(rows))
    return pa.table({name: table[name].cast(pa.string()) for name in names})


def _features(text: pa.Array) -> Floats:
    good = pc.fill_null(pc.match_substring_regex(text, NUMBER), False)
    there = max(len(text) - text.null_count, 1)
    if (pc.sum(good).as_py() or 0) > AS_NUMBER * there:
        v = np.array(pc.if_else(good, text, None).cast(pa.float64()).to_numpy(zero_copy_only=False))
        missing = np.isnan(v)
        numbers = np.where(missing, np.nanmedian(v), v)
        return np.stack([numbers, missing] if missing.any() else [numbers], axis=1)
    values = np.array(pc.fill_null(text, "").to_pylist())
    names, counts = np.unique(values, return_counts=True)
    shown = names[np.argsort(-counts, kind="stable")[:COMMONEST]]
    return np.stack([(values == one).astype(np.float64) for one in shown], axis=1)
