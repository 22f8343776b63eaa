"""Convert column types to those that voile reads, and check the range of dates."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import SourceError

A_DAY = {"day": 1, "s": 86_400, "ms": 86_400_000, "us": 86_400_000_000}
EPOCH = dt.date(1970, 1, 1)
FIRST_DAY, END = (dt.date.min - EPOCH).days, (dt.date.max - EPOCH).days + 1


def plain(kind: pa.DataType) -> pa.DataType:
    """Return the type in which a column is read, without dictionaries, and with text as `string`.

    A dictionary, even in a list or a struct, may contain values of rows that are left out.

    >>> plain(pa.dictionary(pa.int8(), pa.large_string()))
    DataType(string)
    """
    if pa.types.is_dictionary(kind):
        return plain(kind.value_type)
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(plain(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(plain(field.type)) for field in kind])
    if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return pa.binary()
    return kind


def plain_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([(field.name, plain(field.type)) for field in schema])


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Cast the columns of a batch to `schema` without loss, if their layout differs."""
    if batch.schema.equals(schema):
        return batch
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def check_dates(rows: pa.RecordBatch | pa.Table, *, where: str) -> None:
    """Raise SourceError for a date outside the years 1 to 9999, such as `infinity`."""
    for field, column in zip(rows.schema, rows.columns, strict=True):
        unit = _date_unit(field.type)
        if unit is None or column.null_count == len(column):
            continue
        ticks = column.cast(pa.int32() if unit == "day" else pa.int64())
        least, most = pc.min_max(ticks).as_py().values()
        if least < FIRST_DAY * A_DAY[unit] or most >= END * A_DAY[unit]:
            raise SourceError(
                "the column contains a date outside the years 1 to 9999",
                where=f"{where}, column {field.name}",
                instead="correct the date, or convert the column to text",
            )


def _date_unit(kind: pa.DataType) -> str | None:
    if pa.types.is_date32(kind):
        return "day"
    unit = "ms" if pa.types.is_date64(kind) else kind.unit if pa.types.is_timestamp(kind) else None
    return (
        unit if unit in A_DAY else None
    )  # dates in nanoseconds are always in the years 1677 to 2262
