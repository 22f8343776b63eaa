"""Ordered domains: the values of a quasi-identifier, in the order that cuts divide (3.2.1)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import Brief
from voile.core.errors import RequestError
from voile.tables.domains.labels import label_intervals

Kind = Literal["integer", "decimal", "date", "text", "listed"]
By = Literal["day", "month", "year"]
Value = int | Decimal | str | None

INTEGER = re.compile(r"[+-]?\d+\Z")
PLAIN_INTEGER = re.compile(r"-?(0|[1-9]\d*)\Z")
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
DIGITS = 76  # of the widest decimal that Arrow has
OUTSIDE = -1


class NotInKind(ValueError):  # noqa: N818 - says what the value is not, never which value
    """A raw value cannot be read as the domain's kind."""


@dataclass(frozen=True)
class Parser:
    """How a raw cell becomes a value of a domain.

    kind : ``integer``, ``decimal``, ``date``, ``text``, or ``listed``: ordered by a file or tree.
    by : for dates, what one value is: a ``day``, a ``month`` or a ``year``.
    form : for dates written as text, their `strptime` format; ISO 8601 when None.
    """

    kind: Kind
    by: By = "day"
    form: str | None = None

    def __call__(self, raw: Any) -> Value:
        """Return the canonical value of a raw cell; None for null; raise `NotInKind` otherwise.

        >>> Parser("integer")(" 007"), Parser("date", by="month")("1990-03-31")
        (7, '1990-03')
        """
        if raw is None:
            return None
        match self.kind:
            case "integer":
                return _integer(raw)
            case "decimal":
                return _decimal(raw)
            case "date":
                return _date(raw, self.by, self.form)
            case _:
                return str(raw)


def _integer(raw: Any) -> int:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    if isinstance(raw, Decimal) and raw == raw.to_integral_value():
        return int(raw)
    text = str(raw).strip()
    if not INTEGER.match(text):
        raise NotInKind("not a whole number")
    return int(text)


def _decimal(raw: Any) -> Decimal:
    try:
        value = raw if isinstance(raw, Decimal) else Decimal(str(raw).strip())
    except InvalidOperation:
        raise NotInKind("not a decimal number") from None
    if not value.is_finite():
        raise NotInKind("not a finite number")
    if not value:
        return Decimal(0)
    if abs(value.adjusted()) >= DIGITS or len(value.as_tuple().digits) > DIGITS:
        raise NotInKind("more digits than a decimal has")
    return Decimal(f"{value.normalize(Context(prec=DIGITS)):f}")  # 1E+2 is written 100


def _date(raw: Any, by: By, form: str | None) -> int | str:
    if isinstance(raw, dt.datetime):
        day = raw.date()
    elif isinstance(raw, dt.date):
        day = raw
    else:
        day = _parse_day(str(raw).strip(), by, form)
    if by == "year":
        return day.year
    return day.isoformat()[:7] if by == "month" else day.isoformat()


def _parse_day(text: str, by: By, form: str | None) -> dt.date:
    try:
        if form is not None:
            return dt.datetime.strptime(text, form).date()
        if by == "year" and re.fullmatch(r"\d{1,4}", text):
            return dt.date(int(text), 1, 1)
        if by == "month" and re.fullmatch(r"\d{4}-\d{2}", text):
            return dt.date.fromisoformat(f"{text}-01")
        return dt.datetime.fromisoformat(text).date()
    except ValueError:
        raise NotInKind("not a date") from None


@dataclass(frozen=True)
class Domain(Brief):
    """The distinct values of one quasi-identifier, in order; null, where there is one, is last.

    n values give n - 1 cuts: cut i lies between values i and i + 1.

    column : the quasi-identifier's name.
    values : canonical values, distinct, in order, at least two.
    parser : how raw cells become such values.
    levels : (levels, n - 1) bool, the cuts of each level of a hierarchy, finest first; none where
        the domain did not come from one.
    declared : (n,) bool, public values: the user listed them or a population table counts them;
        () where none is.
    """

    shows = (
        "column",
        "parser",
    )

    column: str
    values: tuple[Value, ...] = field(repr=False)
    parser: Parser
    levels: tuple[tuple[bool, ...], ...] = field(default=(), repr=False)
    declared: tuple[bool, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise RequestError(
                "a quasi-identifier needs a domain of at least two values, and this has "
                f"{len(self.values)}",
                where=f"column {self.column}",
                instead="give it the role keep or drop",
            )

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def position(self) -> dict[Value, int]:
        """Where each value stands in the order."""
        return {value: i for i, value in enumerate(self.values)}

    @property
    def nullable(self) -> bool:
        return self.values[-1] is None

    @cached_property
    def is_declared(self) -> NDArray[np.bool_]:
        """Which values are public: listed by the user, or counted in a population table."""
        return np.array(self.declared or (False,) * len(self), dtype=np.bool_)

    @property
    def is_scale(self) -> bool:
        """Whether values are numbers or dates, so that a cut has its place between any two."""
        return self.parser.kind in ("integer", "decimal", "date")

    @cached_property
    def is_contiguous(self) -> bool:
        """Whether values are all the whole numbers, days, months or years between two ends."""
        if self.parser.kind not in ("integer", "date"):
            return False
        known = self.values[: len(self) - self.nullable]
        first, last = (to_ordinal(value, self.parser) for value in (known[0], known[-1]))
        return last - first + 1 == len(known)

    def labels(self, bounds: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Write each interval of values (first, last), both included, all in one style.

        >>> age = Domain("age", tuple(range(106)), Parser("integer"))
        >>> age.labels([(0, 17), (18, 44), (45, 105)])
        ('0-17', '18-44', '45-105')
        >>> age.labels([(0, 0), (1, 12), (13, 105)])
        ('0', '1 to 12', '13 to 105')
        """
        return label_intervals(self.parser.kind, self.parser.by, self.values, bounds)

    def code(self, raw: Any) -> int:
        """Return the position of a raw cell's value, or -1 where the domain lacks it."""
        try:
            return self.position.get(self.parser(raw), OUTSIDE)
        except NotInKind:
            return OUTSIDE

    def codes(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
        """Return the position of every cell, -1 outside. Cost: O(cells), a parse per value."""
        cells, places = encode_cells(column)
        return np.array([self.code(raw) for raw in cells], dtype=np.int32)[places]


def encode_cells(column: pa.Array | pa.ChunkedArray) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct cells of a column, null among them, and each row's place among these."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(null_encoding="encode")
    cells, indices = column.dictionary.to_pylist(), column.indices
    if indices.null_count:
        indices, cells = indices.fill_null(len(cells)), [*cells, None]
    return cells, np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def infer_parser(column: str, type_: pa.DataType, values: Iterable[Any]) -> Parser:
    """Find how a column's cells are to be read, from its type and its distinct values.

    Text of digits is read as whole numbers when some widths differ and none has a leading zero;
    digits of one width above 3, such as ZIP codes, stay text, which orders them alike. Text of
    ISO 8601 days is read as dates.

    >>> infer_parser("zip", pa.string(), ["00501", "37010"]).kind
    'text'
    >>> infer_parser("age", pa.string(), ["9", "10"]).kind
    'integer'
    """
    if pa.types.is_floating(type_):
        raise RequestError(
            "a float cannot be a quasi-identifier",
            where=f"column {column}",
            instead="use an integer, a decimal, or bins",
        )
    if pa.types.is_dictionary(type_):
        return infer_parser(column, type_.value_type, values)
    if pa.types.is_integer(type_):
        return Parser("integer")
    if pa.types.is_decimal(type_):
        return Parser("decimal")
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return Parser("date")
    texts = [str(value) for value in values if value is not None]
    if texts and all(ISO_DAY.match(text.strip()) for text in texts):
        return Parser("date")
    if texts and all(PLAIN_INTEGER.match(text.strip()) for text in texts):
        widths = {len(text.strip()) for text in texts}
        if len(widths) > 1 or max(widths) <= 3:
            return Parser("integer")
    return Parser("text")


def build_domain(
    column: str, raw_values: Iterable[Any], parser: Parser, *, fill: bool | None = None
) -> Domain:
    """Order the distinct values of a column, nulls included, into a domain.

    `fill` gives whole numbers and dates the values that lie between but were not seen; None fills
    when that no more than doubles the domain: an age nobody had this year has its place, and a
    sparse code keeps its gaps.
    """
    values: set[Value] = set()
    unreadable = 0
    for raw in raw_values:
        try:
            values.add(parser(raw))
        except NotInKind:
            unreadable += 1
    if unreadable:
        raise RequestError(
            f"{unreadable} distinct values cannot be read as {parser.kind}",
            where=f"column {column}",
            instead="give the column another kind in the roles file",
        )
    nulls = (None,) if None in values else ()
    ordered: Sequence[Value] = sorted(v for v in values if v is not None)
    ordered = _fill_between(ordered, parser, fill)
    return Domain(column, (*ordered, *nulls), parser)


def _fill_between(ordered: Sequence[Any], parser: Parser, fill: bool | None) -> Sequence[Value]:
    if fill is False or len(ordered) < 2 or parser.kind not in ("integer", "date"):
        return ordered
    first, last = (to_ordinal(v, parser) for v in (ordered[0], ordered[-1]))
    if fill is None and last - first + 1 > 2 * len(ordered):
        return ordered
    return [from_ordinal(i, parser) for i in range(first, last + 1)]


def to_ordinal(value: Any, parser: Parser) -> int:
    """Number a whole number, a day, a month or a year, so that neighbours differ by 1."""
    if parser.kind == "integer" or parser.by == "year":
        return int(value)
    if parser.by == "month":
        return int(value[:4]) * 12 + int(value[5:]) - 1
    return dt.date.fromisoformat(value).toordinal()


def from_ordinal(number: int, parser: Parser) -> Value:
    if parser.kind == "integer" or parser.by == "year":
        return number
    if parser.by == "month":
        return f"{number // 12:04d}-{number % 12 + 1:02d}"
    return dt.date.fromordinal(number).isoformat()
