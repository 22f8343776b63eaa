"""Data frames: what comes in as pandas, Polars, Arrow, DuckDB or a dictionary goes back as that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError, SourceError, named
from voile.data.source import Source, TableSource, distinct_names

Frame = Literal[
    "pandas", "polars", "lazy polars", "arrow", "duckdb", "dictionary", "numpy", "spark"
]
KNOWN = "a pandas, Polars, Arrow or DuckDB frame, a dictionary of columns"
"""What is a frame, as errors say it."""


class FrameSource(TableSource):
    """A frame of one of `KNOWN`, or a structured array of NumPy; it is held in memory.

    A pandas index is not read, its NaN is null. A DuckDB relation is run once, here.
    """

    def __init__(self, frame: Any) -> None:
        kind = frame_kind(frame)
        if kind is None:
            raise RequestError(
                f"{named(frame)} is not a source",
                instead=f"give a path, a database table, {KNOWN}",
            )
        name = NAMES.get(kind, f"{kind} frame")
        if kind == "pandas":
            frame = frame.reset_index(drop=True).set_axis([str(c) for c in frame.columns], axis=1)
            distinct_names(list(frame.columns), where=name)
        super().__init__(_arrow(frame, kind, name).replace_schema_metadata(None), name, kind)


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
    try:
        return whole.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        mixed = next(column for column in whole.columns if not _converts(whole[[column]]))
        raise _mixed(mixed, name) from None


def _columns(columns: Mapping[str, Any], name: str) -> pa.Table:
    arrays = {}
    for column, values in columns.items():
        try:
            arrays[str(column)] = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise _mixed(str(column), name) from None
        except (pa.ArrowException, TypeError, ValueError):
            raise SourceError(
                f"column {column} is not a list of values",
                where=name,
                instead="give a list or array",
            ) from None
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        said = ", ".join(f"{column} {len(array):,}" for column, array in arrays.items())
        raise SourceError(f"the columns are of different lengths: {said}", where=name)
    return pa.table(arrays)


def _mixed(column: str, name: str) -> SourceError:
    said = f"column {column} holds values of several types"
    return SourceError(said, where=name, instead="make it text")


def _converts(frame: Any) -> bool:
    try:
        frame.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


def frame_kind(thing: object) -> Frame | None:
    """Say what kind of frame this is; None for what is none."""
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
    """Return the kind of frame that a source came as; Arrow for what was no frame."""
    kinds: dict[str, Frame] = {kind: kind for kind in get_args(Frame)}
    return kinds.get(source.kind, "arrow")


def to_frame(table: pa.Table, *, like: Frame) -> Any:
    """Give an Arrow table back as the kind of frame that came in; a NumPy array as a dictionary.

    In pandas, whole numbers and booleans with nulls become its nullable types: as floats, 2^53 + 1
    would come back as 2^53.
    """
    match like:
        case "arrow":
            return table
        case "dictionary" | "numpy":
            return table.to_pydict()
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
            name: col.to_pandas(types_mapper=nullable.get if col.null_count else None)
            for name, col in zip(table.column_names, table.columns, strict=True)
        }
    )


_INTS = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
