"""Describe a PostgreSQL table, and build a SELECT in which equality is the same as in voile.

Text is compared by its bytes. Otherwise, a collation or citext may treat `a` and `A` as equal, and
char(n) ignores trailing blanks. Counting and streaming use the same expressions, so both have the
same values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data.column_types import conform
from voile.data.formats.databases import choose_table
from voile.data.postgres.session import PHYSICAL, DatabaseSession
from voile.data.source import identifier

DIGITS = 38  # the widest decimal of DuckDB

KINDS = {
    "bool": pa.bool_(),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "bytea": pa.binary(),
    "time": pa.time64("us"),
}
"""The types that are read unchanged."""

MOMENTS = {
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
}
"""Types whose values may be infinite or outside the years 1 to 9999. Such columns become text."""

TEXTS = {
    *("text", "varchar", "bpchar", "citext", "name", "char", "enum"),
    *("uuid", "interval", "timetz", "oid", "bit", "varbit"),
    *("inet", "cidr", "macaddr", "macaddr8"),
}
"""The types that are read as text. For char(n), the padding blanks are removed."""


@dataclass(frozen=True)
class DatabaseColumn:
    """A column: its name, its PostgreSQL type, and how it is read.

    `arrow` is None if the type is not readable. `sql` is the expression of its values.
    """

    name: str
    shown: str
    arrow: pa.DataType | None
    sql: str


@dataclass(frozen=True)
class DatabaseTable:
    """A table, view, partitioned or foreign table, with its readable columns.

    place : its quoted name, with its schema.
    columns : the readable columns.
    unread : the types of the other columns, by name. No type of voile fits them.
    ordered : whether its rows are in table order. Otherwise, they are sorted by all their values.
    """

    place: str
    columns: dict[str, DatabaseColumn]
    unread: dict[str, str] = field(default_factory=dict)
    ordered: bool = True
    notes: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, column.arrow) for column in self.columns.values()])

    def select(self, columns: Iterable[str]) -> str:
        shown = [f"{self.columns[name].sql} AS {identifier(name)}" for name in columns]
        return f"SELECT {', '.join(shown)} FROM {self.place}"

    def rows(self, session: DatabaseSession, columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Stream some columns, with rows always in the same order."""
        session.set({**dict.fromkeys(PHYSICAL, "off"), "max_parallel_workers_per_gather": "0"})
        by = ", ".join(column.sql for column in self.columns.values())
        order = "" if self.ordered else f" ORDER BY {by}"
        schema = pa.schema([(name, self.columns[name].arrow) for name in columns])
        for batch in session.stream(self.select(columns) + order):
            yield conform(batch, schema)


def find_table(session: DatabaseSession, asked: str | None) -> DatabaseTable:
    """Find a table by its name, or the only table if no name is given.

    Columns of dates, times and numerics are read once to find a narrower type. During the session,
    nobody can drop or change the table.
    """
    oid, place, ordered = _place(session, asked)
    session.run(f"SELECT FROM {place} LIMIT 0")  # locks it against changes and drops
    columns = [_column(*row) for row in session.run(_COLUMNS.format(oid=oid))]
    name = session.address.name
    if not columns:
        raise RequestError(
            "the table has no columns", where=name, instead="name a table with columns"
        )
    unread = {column.name: column.shown for column in columns if column.arrow is None}
    read = [column for column in columns if column.arrow is not None]
    if not read:
        raise RequestError(
            f"voile cannot read any column of the table: {_list_columns(unread)}",
            where=name,
            instead="convert the columns to text in a view",
        )
    held = _as_held(session, place, read)
    notes = [
        f"left out, since its type is not read: {_list_columns({n: t})}" for n, t in unread.items()
    ]
    notes += [
        f"column {column.name} is {column.shown}, and is read as text: not all of it fits a type"
        for column, before in zip(held, read, strict=True)
        if pa.types.is_string(column.arrow) and not pa.types.is_string(before.arrow)
    ]
    return DatabaseTable(place, {c.name: c for c in held}, unread, ordered, tuple(notes))


def _list_columns(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} ({shown})" for name, shown in columns.items())


def _place(session: DatabaseSession, asked: str | None) -> tuple[int, str, bool]:
    """Return the oid of a table, its quoted name, and whether its rows are in this database."""
    where = session.address.name
    named: dict[str, list[tuple[int, str]]] = {}
    for oid, schema, name, visible, part in session.run(_TABLES):
        place = (oid, f"{identifier(schema)}.{identifier(name)}")
        if asked is not None or not part:
            named.setdefault(name if visible else f"{schema}.{name}", []).append(place)
        if visible and asked == f"{schema}.{name}":
            named.setdefault(asked, []).append(place)
    found = named[choose_table(asked, named, where=where)]
    if len(found) > 1:
        raise RequestError(
            "two tables match this name, because one name contains a dot",
            where=where,
            instead="read one of the tables through a view",
        )
    number, quoted = found[0]
    ((lies_here,),) = session.run(_LIES_HERE.format(oid=number))
    return number, quoted, lies_here


def _column(name: str, kind: str, modifier: int, shown: str) -> DatabaseColumn:
    quoted = identifier(name)
    if kind in KINDS:
        return DatabaseColumn(name, shown, KINDS[kind], quoted)
    if kind in MOMENTS:
        return DatabaseColumn(name, shown, MOMENTS[kind], quoted)
    if kind in TEXTS:
        return DatabaseColumn(name, shown, pa.string(), as_text(quoted))
    if kind == "numeric":
        return DatabaseColumn(
            name, shown, _declared_type(modifier), as_text(f"trim_scale({quoted})")
        )
    return DatabaseColumn(name, shown, None, quoted)


def as_text(sql: str) -> str:
    """Return an SQL expression that converts a value to text with comparison by bytes."""
    return f'CAST({sql} AS text) COLLATE "C"'


def _declared_type(modifier: int) -> pa.DataType:
    """Return the type of a numeric(p, s), or the widest type without p and s."""
    precision, scale = (modifier - 4) >> 16, (modifier - 4) & 0x7FF
    if modifier < 0 or precision > DIGITS or scale > precision:  # negative scales are large here
        return pa.decimal128(DIGITS, 0)
    return pa.decimal128(precision, scale)


def _as_held(
    session: DatabaseSession, place: str, columns: list[DatabaseColumn]
) -> list[DatabaseColumn]:
    """Fit the types of columns to their values: the scale of decimals, or text if no type fits."""
    asked = [(column, _question(column)) for column in columns]
    questions = [question for _, parts in asked for question in parts]
    if not questions:
        return columns
    ((*answers,),) = session.run(f"SELECT {', '.join(questions)} FROM {place}")
    found = iter(answers)
    return [_fit_column(column, [next(found) for _ in parts]) for column, parts in asked]


def _question(column: DatabaseColumn) -> list[str]:
    quoted = identifier(column.name)
    if column.arrow in MOMENTS.values():
        return [f"bool_and({quoted} >= '0001-01-01' AND {quoted} < '10000-01-01')"]
    if pa.types.is_decimal(column.arrow):
        return [f"CAST(max(abs({quoted})) AS text)", f"max(min_scale({quoted}))"]
    return []


def _fit_column(column: DatabaseColumn, found: list[Any]) -> DatabaseColumn:
    if column.arrow in MOMENTS.values() and found == [False]:
        return replace(column, arrow=pa.string(), sql=as_text(identifier(column.name)))
    if pa.types.is_decimal(column.arrow) and found[0] is not None:
        return replace(column, arrow=_choose_decimal(column.arrow, Decimal(found[0]), found[1]))
    return column


def _choose_decimal(declared: pa.DataType, largest: Decimal, scale: int | None) -> pa.DataType:
    """Return the decimal type for numbers up to `largest` with `scale` places, or text."""
    if not largest.is_finite() or scale is None:
        return pa.string()
    whole = max(largest.adjusted() + 1, 0)
    if scale <= declared.scale and whole <= declared.precision - declared.scale:
        return declared
    return pa.decimal128(DIGITS, scale) if whole + scale <= DIGITS else pa.string()


_TABLES = """
SELECT c.oid::int8, nspname::text, relname::text, pg_table_is_visible(c.oid), relispartition
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
WHERE relkind IN ('r', 'v', 'm', 'f', 'p')
    AND nspname !~ '^pg_' AND nspname <> 'information_schema'
ORDER BY nspname, relname"""

_LIES_HERE = """
WITH RECURSIVE tree AS (
    SELECT {oid}::oid AS part
    UNION ALL
    SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = part
)
SELECT bool_and(relkind IN ('r', 'm', 'p')) FROM tree JOIN pg_class ON oid = part"""

_COLUMNS = """
WITH RECURSIVE kinds AS (
    SELECT attnum, attname, atttypid AS type, atttypmod AS modifier,
        format_type(atttypid, atttypmod) AS shown
    FROM pg_attribute
    WHERE attrelid = {oid} AND attnum > 0 AND NOT attisdropped
        AND has_column_privilege(attrelid, attnum, 'SELECT')
    UNION ALL
    SELECT attnum, attname, typbasetype, typtypmod, shown
    FROM kinds JOIN pg_type ON oid = type WHERE typtype = 'd'
)
SELECT attname::text,
    CASE WHEN typtype = 'e' THEN 'enum' WHEN typnamespace = 'pg_catalog'::regnamespace
         OR typname = 'citext' THEN typname::text ELSE '' END,
    modifier, shown
FROM kinds JOIN pg_type ON oid = type WHERE typtype <> 'd' ORDER BY attnum"""
"""The columns that this role may read. A domain is replaced by its base type."""
