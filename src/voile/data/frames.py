"""Data frames: pandas, Polars, Arrow, DuckDB or a dictionary, each returned in its own type."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError, SourceError, name_kind
from voile.data.source import Source, TableSource, distinct_names

Frame = Literal[
    "pandas", "polars", "lazy polars", "arrow", "duckdb", "dictionary", "numpy", "spark"
]
KNOWN = "a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns"
"""The accepted frames, as error messages list them."""


class FrameSource(TableSource):
    """A frame of one of `KNOWN`, or a structured array of NumPy, in memory.

    The index of a pandas frame is ignored, and its NaN is null. A DuckDB relation is run once, when
    it is opened.
    """

    def __init__(self, frame: Any) -> None:
        kind = frame_kind(frame)
        if kind is None:
            raise RequestError(
                f"{name_kind(frame)} is not a source of data",
                instead=f"give a path, a database table, {KNOWN}",
            )
        name = NAMES.get(kind, f"{kind} frame")
        if kind == "pandas":
            frame = frame.reset_index(drop=True).set_axis([str(c) for c in frame.columns], axis=1)
            distinct_names(list(frame.columns), where=name)
        super().__init__(_arrow(frame, kind, name).replace_schema_metadata(None), name, kind)


WIDEST = pa.decimal128(38, 0)
"""The type for whole numbers that do not fit in 64 bits."""
_UNFIT = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
"""The errors that Arrow raises for values that do not fit in a single type."""
NAMES = {
    "lazy polars": "polars frame",
    "duckdb": "duckdb relation",
    "dictionary": "dictionary of columns",
    "numpy": "numpy array",
}


def _arrow(frame: Any, kind: Frame, name: str) -> pa.Table:
    match kind:
        case "arrow":
            return frame if isinstance(frame, pa.Table) else pa.Table.from_batches([frame])
        case "duckdb":
            return frame.to_arrow_table()
        case "dictionary":
            return _columns(frame, name)
        case "numpy":
            return _columns({column: frame[column] for column in frame.dtype.names}, name)
        case "lazy polars":
            frame = frame.collect()
    whole = nw.from_native(frame, eager_only=True)
    if not any(_is_of_objects(whole[column]) for column in whole.columns):
        with suppress(*_UNFIT):
            return whole.to_arrow()
    return pa.table({column: _cells(whole[column], column, name) for column in whole.columns})


def _is_of_objects(series: nw.Series[Any]) -> bool:
    """Return whether a Polars series contains Python objects, which Arrow cannot read."""
    return series.implementation.is_polars() and series.dtype == nw.Object


def _cells(series: nw.Series[Any], column: str, name: str) -> pa.Array | pa.ChunkedArray:
    if not _is_of_objects(series):
        with suppress(*_UNFIT):
            return series.to_frame().to_arrow().column(0)
    return _array(series.to_list(), column, name)


def _array(values: Any, column: str, name: str) -> pa.Array:
    """Return values as an Arrow array of a type that preserves all of them.

    Whole numbers beyond 64 bits are decimals of at most 38 digits, as in the engines. Larger ones
    are text.
    """
    try:
        return pa.array(values, from_pandas=True)
    except _UNFIT:
        if not _are_null([one for one in values if not _is_whole(one)]):
            said = f"column {column} holds values of several types, or of one that no table has"
            raise SourceError(said, where=name, instead="convert the column to text") from None
    numbers = [int(one) if _is_whole(one) else None for one in values]
    longest = max(len(str(abs(one))) for one in numbers if one is not None)
    if longest > WIDEST.precision:
        return pa.array([None if one is None else str(one) for one in numbers], pa.string())
    return pa.array([None if one is None else Decimal(one) for one in numbers], WIDEST)


def _columns(columns: Mapping[str, Any], name: str) -> pa.Table:
    arrays = {}
    for column, values in columns.items():
        try:
            arrays[str(column)] = _array(values, str(column), name)
        except SourceError:
            raise
        except (pa.ArrowException, TypeError, ValueError):
            raise SourceError(
                f"column {column} is not a list of values",
                where=name,
                instead=f"give column {column} as a list or an array",
            ) from None
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        said = ", ".join(f"{column} {len(array):,}" for column, array in arrays.items())
        raise SourceError(
            f"the columns have different lengths: {said}",
            where=name,
            instead="give each column one value per row",
        )
    return pa.table(arrays)


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _are_null(values: list[Any]) -> bool:
    try:
        return bool(pa.array(values, from_pandas=True).null_count == len(values))
    except _UNFIT:
        return False


def frame_kind(thing: object) -> Frame | None:
    """Return the kind of a frame, or None for another object."""
    if isinstance(thing, pa.Table | pa.RecordBatch):
        return "arrow"
    if nw.dependencies.is_pandas_dataframe(thing):
        return "pandas"
    if nw.dependencies.is_polars_dataframe(thing):
        return "polars"
    if nw.dependencies.is_polars_lazyframe(thing):
        return "lazy polars"
    if nw.dependencies.is_duckdb_relation(thing):
        return "duckdb"
    if isinstance(thing, Mapping) and not hasattr(thing, "shape"):  # SciPy's DOK is a dictionary
        return "dictionary"
    if isinstance(thing, np.ndarray) and thing.dtype.names:
        return "numpy"
    return None


def frame_of(source: Source) -> Frame:
    """Return the kind of frame of a source, or Arrow if the source is not a frame."""
    kinds: dict[str, Frame] = {kind: kind for kind in get_args(Frame)}
    return kinds.get(source.kind, "arrow")


def to_frame(table: pa.Table, *, like: Frame) -> Any:
    """Convert an Arrow table to a kind of frame. A NumPy array becomes a dictionary.

    In pandas, whole numbers and booleans with nulls become nullable types. As floats, 2^53 + 1
    would become 2^53. Whole numbers beyond 64 bits become Python integers.
    """
    named = list(zip(table.column_names, table.columns, strict=True))
    match like:
        case "arrow":
            return table
        case "dictionary" | "numpy":
            return {name: _whole_cells(col) or col.to_pylist() for name, col in named}
        case "duckdb":
            import duckdb

            return duckdb.from_arrow(table)
        case "spark":
            from voile.data.spark.session import open_session

            return open_session().createDataFrame(table)
        case "polars" | "lazy polars":
            import polars

            frame = polars.DataFrame(table)
            return frame.lazy() if like == "lazy polars" else frame
    import pandas  # type: ignore[import-untyped]

    nullable = {
        pa.bool_(): pandas.BooleanDtype(),
        **{getattr(pa, n.lower())(): getattr(pandas, f"{n}Dtype")() for n in _INTS},
    }
    return pandas.DataFrame(
        {
            name: pandas.Series(whole, dtype=object)
            if (whole := _whole_cells(col))
            else col.to_pandas(types_mapper=nullable.get if col.null_count else None)
            for name, col in named
        }
    )


def _whole_cells(column: pa.ChunkedArray) -> list[int | None]:
    """Return the whole numbers of a column of type `WIDEST`, and nothing for any other type."""
    cells = column.to_pylist() if column.type == WIDEST else []
    return [None if one is None else int(one) for one in cells]


_INTS = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
