"""Data frames: what comes in as pandas, Polars or Arrow goes back as the same."""

from __future__ import annotations

from typing import Any, Literal

import narwhals.stable.v2 as nw
import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data.source import TableSource, distinct_names

Frame = Literal["pandas", "polars", "arrow"]


class FrameSource(TableSource):
    """A pandas, Polars or Arrow frame; a pandas index is not read, its NaN is null."""

    def __init__(self, frame: Any) -> None:
        kind = frame_kind(frame)
        if kind is None:
            raise RequestError(
                f"a {type(frame).__name__} is no source",
                instead="give a path, a database table, or a pandas, Polars or Arrow frame",
            )
        name = f"{kind} frame"
        if kind == "pandas":
            frame = frame.reset_index(drop=True).set_axis([str(c) for c in frame.columns], axis=1)
            distinct_names(list(frame.columns), where=name)
        super().__init__(_arrow(frame, name).replace_schema_metadata(None), name, kind)


def _arrow(frame: Any, name: str) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    eager = frame.collect() if nw.dependencies.is_polars_lazyframe(frame) else frame
    whole = nw.from_native(eager, eager_only=True)
    try:
        return whole.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        mixed = next(column for column in whole.columns if not _converts(whole[[column]]))
        raise SourceError(
            f"column {mixed} holds values of several types", where=name, instead="make it text"
        ) from None


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
    if nw.dependencies.is_polars_dataframe(thing) or nw.dependencies.is_polars_lazyframe(thing):
        return "polars"
    return None


def to_frame(table: pa.Table, *, like: Frame) -> Any:
    """Give an Arrow table back as the kind of frame that came in.

    In pandas, whole numbers and booleans with nulls become its nullable types: as floats, 2^53 + 1
    would come back as 2^53.
    """
    if like == "arrow":
        return table
    if like == "polars":
        import polars

        return polars.from_arrow(table)
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
