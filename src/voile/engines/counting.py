"""Count subjects or people by combination of values, in the engine of the data.

Only distinct combinations are loaded into memory. The source runs the first query itself: a GROUP
BY in DuckDB, or in the database of the table. DuckDB processes the result of that query.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError
from voile.data.column_types import check_dates
from voile.data.source import Source, distinct_names, identifier
from voile.engines.duck import MEMORY, connect

if TYPE_CHECKING:
    import duckdb

COUNT = "count"


def count_combinations(
    source: Source,
    columns: Sequence[str],
    *,
    subject: str | None = None,
    weight: str | None = None,
    floats: Collection[str] = (),
    memory: int = MEMORY,
    threads: int | None = None,
    directory: Path | None = None,
    connection: duckdb.DuckDBPyConnection | None = None,
) -> pa.Table:
    """Count rows, people or subjects by the distinct combinations of `columns`.

    Parameters
    ----------
    columns : one or more column names. Columns may contain text, integers, decimals, dates,
        booleans, and the floats in `floats`. A null counts as a value of its own.
    subject : the column of each row's person. Each subject counts as 1, divided evenly among its
        distinct combinations, so repeated rows change nothing. A row without a subject counts as a
        subject of its own.
    weight : the column of the number of people per row, whole numbers >= 0, as numbers or as text.
        It cannot be combined with `subject`.
    floats : the columns that may be floats. Equal floats count together, and NaN is returned as
        null. The caller adds the counts of equal values: -0.0 and 0.0, NaN and null.
    memory : the memory budget in bytes, > 0. Larger intermediate data spills to disk. The result
        has to fit in half of the memory.
    threads, directory : as for `voile.engines.duck.connect`.
    connection : a connection from `voile.engines.duck.connect`, for several counts. Opening one
        takes as long as a small count.

    Returns
    -------
    pa.Table : `columns` in the source's types, and `count`, float64. It has one row per occurring
        combination, sorted by value with nulls last. The bytes do not depend on the number of
        threads. Sums are of integers, or of n / m in order of m, for n subjects with m
        combinations.

    Raises
    ------
    RequestError : a column is absent or a float, a weight is not a whole number, or the result
        would not fit in memory.

    Cost: one pass over the rows. Memory: O(distinct combinations).
    """
    _check(source, columns, subject, weight, floats)
    query = (
        _by_subject(source, columns, subject)
        if subject is not None
        else _by_weight(source, columns, weight)
        if weight is not None
        else _by_row(source, columns)
    )
    opened = connect(memory=memory, threads=threads, directory=directory)
    with nullcontext(connection) if connection is not None else opened as engine:
        source.tabulate(engine, query.first, columns=query.reads, answer=query.answer, into="cells")
        if weight is not None:
            _check_weights(engine, source, weight)
        engine.execute(f"CREATE TABLE counted AS {query.then}")
        _check_size(engine, source, columns, memory // 2)
        counted = _fetch(engine, source.schema(columns))
        engine.execute("DROP TABLE cells; DROP TABLE counted")
    # the engine may have read the file without voile's checks
    check_dates(counted, where=source.name)
    return counted


@dataclass(frozen=True)
class _CountQuery:
    """A count in two steps: `first` in the engine of the data, then `then` in DuckDB on its result.

    Columns are renamed to k0, k1, ... so that the source's names do not collide with others.
    """

    reads: list[str]
    first: str
    answer: pa.Schema
    then: str


def _by_row(source: Source, columns: Sequence[str]) -> _CountQuery:
    keys = ", ".join(_keys(columns))
    return _CountQuery(
        reads=list(columns),
        first=f"SELECT {_name_columns(columns)}, count(*) AS n "
        f"FROM source GROUP BY {_first(len(columns))}",
        answer=_answer(source, columns, n=pa.int64()),
        then=f"SELECT {keys}, n::DOUBLE AS n FROM cells",
    )


def _by_weight(source: Source, columns: Sequence[str], weight: str) -> _CountQuery:
    keys = ", ".join(_keys(columns))
    kind = source.columns[weight]
    return _CountQuery(
        reads=list(dict.fromkeys([*columns, weight])),
        first=f"SELECT {_name_columns(columns)}, {identifier(weight)} AS w, count(*) AS n "
        f"FROM source GROUP BY {_first(len(columns) + 1)}",
        answer=_answer(source, columns, w=kind, n=pa.int64()),
        then=f"SELECT {keys}, sum(n * w::HUGEINT)::DOUBLE AS n FROM cells GROUP BY {keys}",
    )


def _by_subject(source: Source, columns: Sequence[str], subject: str) -> _CountQuery:
    """Divide each subject evenly among its m distinct combinations.

    Rows without a subject count separately.
    """
    keys = ", ".join(_keys(columns))
    return _CountQuery(
        reads=list(dict.fromkeys([*columns, subject])),
        first=f"""
            WITH pairs AS (
                SELECT {_name_columns(columns)}, {identifier(subject)} AS s, count(*) AS n
                FROM source GROUP BY {_first(len(columns) + 1)}
            ), spread AS (
                SELECT s, count(*) AS m FROM pairs WHERE s IS NOT NULL GROUP BY s
            )
            SELECT {keys}, coalesce(m, 1) AS m,
                   sum(CASE WHEN pairs.s IS NULL THEN n ELSE 1 END) AS n
            FROM pairs LEFT JOIN spread ON pairs.s = spread.s
            GROUP BY {_first(len(columns) + 1)}""",
        answer=_answer(source, columns, m=pa.int64(), n=pa.int64()),
        then=f"SELECT {keys}, sum(n::DOUBLE / m ORDER BY m) AS n FROM cells GROUP BY {keys}",
    )


def _keys(columns: Sequence[str]) -> list[str]:
    return [f"k{i}" for i in range(len(columns))]


def _name_columns(columns: Sequence[str]) -> str:
    pairs = zip(columns, _keys(columns), strict=True)
    return ", ".join(f"{identifier(column)} AS {key}" for column, key in pairs)


def _first(n: int) -> str:
    return ", ".join(str(i + 1) for i in range(n))


def _answer(source: Source, columns: Sequence[str], **more: pa.DataType) -> pa.Schema:
    kinds = source.schema(columns).types
    return pa.schema([*zip(_keys(columns), kinds, strict=True), *more.items()])


def _check(
    source: Source,
    columns: Sequence[str],
    subject: str | None,
    weight: str | None,
    floats: Collection[str],
) -> None:
    if not columns:
        raise RequestError("there are no columns to count by", where=source.name)
    if subject is not None and weight is not None:
        raise RequestError("counts are by subject or by weight, not by both", where=source.name)
    distinct_names([*columns, COUNT], where=source.name)
    for field in source.schema([*columns, *([subject] if subject is not None else [])]):
        _check_key(field, source.name, floats)
    for field in source.schema([weight] if weight is not None else []):
        if not (_is_number(field.type) or pa.types.is_string(field.type)):
            raise RequestError(
                f"the column is {field.type}, and a weight must be a whole number",
                where=f"{source.name}, column {field.name}",
                instead="convert the column to integers",
            )


def _check_key(field: pa.Field, name: str, floats: Collection[str]) -> None:
    where = f"{name}, column {field.name}"
    if pa.types.is_floating(field.type) and field.name not in floats:
        raise RequestError(
            "the column is a float, and floats cannot be counted exactly",
            where=where,
            instead="use an integer, a decimal or bins",
        )
    if pa.types.is_nested(field.type):
        raise RequestError(
            f"the column is {field.type}, which voile cannot count",
            where=where,
            instead="select its parts in a view, or drop it",
        )


def _is_number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_decimal(kind) or pa.types.is_floating(kind)
    )


def _check_weights(connection: duckdb.DuckDBPyConnection, source: Source, weight: str) -> None:
    """Raise RequestError if a weight is not a whole number >= 0 of at most 18 digits."""
    if pa.types.is_string(source.columns[weight]):
        good = "regexp_full_match(trim(w), '[0-9]{1,18}')"
    else:
        good = "w >= 0 AND w < 1e18 AND isfinite(w::DOUBLE) AND w = floor(w)"
    (bad,) = _one(connection, f"SELECT sum(n) FROM cells WHERE NOT coalesce({good}, false)")
    if bad:
        raise RequestError(
            f"{bad:,} {'row has a weight that is' if bad == 1 else 'rows have weights that are'}"
            " null, negative or not a whole number",
            where=f"{source.name}, column {weight}",
        )


def _check_size(
    connection: duckdb.DuckDBPyConnection, source: Source, columns: Sequence[str], limit: int
) -> None:
    """Raise RequestError with the size if a result would not fit in memory."""
    kinds = dict(zip(_keys(columns), source.schema(columns).types, strict=True))
    texts = [key for key, kind in kinds.items() if _is_text(kind)]
    lengths = "".join(f" + coalesce(sum(strlen({key}::VARCHAR)), 0)" for key in texts)
    rows, letters = _one(connection, f"SELECT count(*), 0{lengths} FROM counted")
    width = 8 + sum(4 if _is_text(kind) else kind.bit_width / 8 for kind in kinds.values())
    size = rows * width + letters
    if size > limit:
        raise RequestError(
            f"about {_about(rows)} combinations, {size / 1e9:.1f} GB, "
            f"do not fit in {limit / 1e9:.1f} GB",
            where=source.name,
            instead="give more memory, or use fewer or coarser columns",
        )


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _about(n: int) -> str:
    return f"{n / 1e6:,.0f} million" if n >= 2_000_000 else f"{n:,}"


def _fetch(connection: duckdb.DuckDBPyConnection, schema: pa.Schema) -> pa.Table:
    order = ", ".join(f"k{i} NULLS LAST" for i in range(len(schema)))
    answer = connection.execute(f"SELECT * FROM counted ORDER BY {order}").to_arrow_table()
    columns = [*map(_cast, answer.columns, [*schema.types, pa.float64()])]
    return pa.table([*map(_without_nan, columns[:-1]), columns[-1]], [*schema.names, COUNT])


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if not pa.types.is_interval(column.type):  # Arrow cannot cast DuckDB's durations
        return column.cast(kind)
    spans = [
        x and timedelta(x.days, microseconds=x.nanoseconds // 1000) for x in column.to_pylist()
    ]
    return pa.chunked_array([pa.array(spans, kind)])


def _without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if not pa.types.is_floating(column.type):
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[int, ...]:
    row = connection.execute(sql).fetchone()
    assert row is not None
    return row
