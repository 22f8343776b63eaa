"""Define ordered domains: a quasi-identifier's values, with split points between them (3.2.1)."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.domains.labels import label_bins, label_intervals, label_list
from voile.tables.domains.parser import BELOW_ALL, DIGITS, CellParser, NotInKind, Value

PLAIN_INTEGER = re.compile(r"-?(0|[1-9]\d*)\Z")
ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\Z")
OUTSIDE = -1


@dataclass(frozen=True)
class ValueDomain(BriefRepr):
    """The distinct values of one quasi-identifier, in order, with null last if it occurs.

    A domain of n values has n - 1 split points: number i lies between values i and i + 1.

    Attributes
    ----------
    column : the quasi-identifier's name.
    values : canonical values, distinct, in order, at least two.
    parser : the parser that converts raw cells to canonical values.
    levels : (levels, n - 1) bool, the split points of each level of a hierarchy, finest first.
        Empty if the domain was not built from a hierarchy.
    declared : (n,) bool, public values: values that the user listed or that a population table
        counts. Empty if there are none.
    free : whether the values have no order, so that a tree may divide them into any two sets.
    """

    shows = (
        "column",
        "parser",
    )

    column: str
    values: tuple[Value, ...] = field(repr=False)
    parser: CellParser
    levels: tuple[tuple[bool, ...], ...] = field(default=(), repr=False)
    declared: tuple[bool, ...] = field(default=(), repr=False)
    free: bool = False

    def __post_init__(self) -> None:
        if not self.values:
            raise RequestError(
                "there is no value: the source has no rows",
                where=f"column {self.column}",
                instead="give one with rows",
            )
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
        """Return the position of each value in the order."""
        return {value: i for i, value in enumerate(self.values)}

    @property
    def nullable(self) -> bool:
        return self.values[-1] is None

    @cached_property
    def is_declared(self) -> NDArray[np.bool_]:
        """Return a mask of public values: listed by the user, or in a population table."""
        return np.array(self.declared or (False,) * len(self), dtype=np.bool_)

    @property
    def is_scale(self) -> bool:
        """Return whether the values are numbers, dates or times, so that any two can be split."""
        return self.parser.is_scale

    @cached_property
    def is_contiguous(self) -> bool:
        """Return whether each value ends where the next begins, as bins or consecutive days do."""
        if self.parser.edges or self.parser.kind not in ("integer", "date", "time"):
            return bool(self.parser.edges)
        known = self.values[: len(self) - self.nullable]
        first, last = (to_ordinal(value, self.parser) for value in (known[0], known[-1]))
        return last - first + 1 == len(known)

    def covers_more(self, place: int) -> bool:
        """Return whether a value also represents others: a bin, or a coded bottom or top."""
        return bool(self.parser.edges) or self.values[place] in self._coded_ends

    @cached_property
    def _coded_ends(self) -> tuple[Value, ...]:
        ends = (self.parser.bottom, self.parser.top)
        return tuple(end for end in ends if end is not None)

    def labels(self, bounds: Sequence[tuple[int, int]]) -> tuple[str, ...]:
        """Return labels for intervals of values (first, last), both included, all in one style.

        >>> age = ValueDomain("age", tuple(range(106)), CellParser("integer"))
        >>> age.labels([(0, 17), (18, 44), (45, 105)])
        ('0-17', '18-44', '45-105')
        >>> age.labels([(0, 0), (1, 12), (13, 105)])
        ('0', '1 to 12', '13 to 105')
        """
        if self.parser.edges:
            edges = [None if value == BELOW_ALL else value for value in self.values]
            return label_bins(edges, bounds, nullable=self.nullable)
        return label_intervals(self.parser.kind, self.parser.by, self.values, bounds)

    def labels_of(self, sets: NDArray[np.bool_]) -> tuple[str, ...]:
        """Return labels for sets of values, (sets, values): intervals as ranges, others as lists.

        >>> job = ValueDomain("job", ("cook", "judge", "nurse", None),
        ...                   CellParser("listed"), free=True)
        >>> job.labels_of(np.array([[True, False, True, False], [False, True, False, True]]))
        ('cook|nurse', 'judge|missing')
        """
        if self.free:
            own = [[v for v, is_in in zip(self.values, one, strict=True) if is_in] for one in sets]
            return tuple(label_list(values) for values in own)
        places = [np.flatnonzero(one) for one in sets]
        return self.labels([(int(own[0]), int(own[-1])) for own in places])

    def code(self, raw: Any) -> int:
        """Return the position of a raw cell's value, or -1 if the domain does not contain it."""
        try:
            return self.position.get(self.parser(raw), OUTSIDE)
        except NotInKind:
            return OUTSIDE

    def codes(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
        """Return the position of every cell, or -1 if the domain does not contain it.

        Cost: O(cells), and one parse for each distinct cell.
        """
        if self.parser.edges and pa.types.is_floating(column.type):
            return self._bins(column)
        cells, places = encode_cells(column)
        return np.array([self.code(raw) for raw in cells], dtype=np.int32)[places]

    def _bins(self, column: pa.Array | pa.ChunkedArray) -> NDArray[np.int32]:
        """Return the bin of every float. Different numbers of 15 digits are different floats.

        Numbers with more than 76 digits before or after the point are outside the domain, as for
        decimals.
        """
        numbers = _as_written(column).to_numpy(zero_copy_only=False)
        if missing := self.parser.missing_numbers:
            numbers = np.where(np.isin(numbers, missing), np.nan, numbers)
        edges = np.array(self.parser.edges, dtype=np.float64)
        places = np.searchsorted(edges, numbers, side="right").astype(np.int32)
        size = np.abs(numbers)
        places[~(size < 10.0**DIGITS) | ((size > 0) & (size < 10.0 ** (1 - DIGITS)))] = OUTSIDE
        if self.nullable:
            places[np.isnan(numbers)] = len(self) - 1
        return np.asarray(places)


def _as_written(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Convert floats to float64 by their decimal text (32-bit .1 becomes .1), and NaN to null."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    known = pc.if_else(pc.is_nan(whole), pa.scalar(None, whole.type), whole)
    return known if known.type == pa.float64() else known.cast(pa.string()).cast(pa.float64())


def encode_cells(column: pa.Array | pa.ChunkedArray) -> tuple[list[Any], NDArray[np.int64]]:
    """Return the distinct cells of a column, including null, and each row's position among them.

    A float is converted by its decimal text, also if it has 32 bits. NaN becomes null.
    """
    if pa.types.is_floating(column.type):
        column = _as_written(column)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(null_encoding="encode")
    cells, indices = column.dictionary.to_pylist(), column.indices
    if indices.null_count:
        indices, cells = indices.fill_null(len(cells)), [*cells, None]
    return cells, np.asarray(indices.to_numpy(zero_copy_only=False), dtype=np.int64)


def infer_parser(type_: pa.DataType, values: Iterable[Any]) -> CellParser:
    """Infer from a column's type and distinct values how its cells are parsed.

    Text of digits is read as whole numbers if the widths differ and no text has a leading zero.
    Digits of one width above 3, such as ZIP codes, stay text, which has the same order. Text of ISO
    8601 days is read as dates.

    >>> infer_parser(pa.string(), ["00501", "37010"]).kind
    'text'
    >>> infer_parser(pa.string(), ["9", "10"]).kind
    'integer'
    """
    if pa.types.is_dictionary(type_):
        return infer_parser(type_.value_type, values)
    if pa.types.is_integer(type_):
        return CellParser("integer")
    if pa.types.is_decimal(type_) or pa.types.is_floating(type_):
        return CellParser("decimal")
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return CellParser("date")
    if pa.types.is_time(type_):
        return CellParser("time", "hour")
    texts = [str(value) for value in values if value is not None]
    if texts and all(ISO_DAY.match(text.strip()) for text in texts):
        return CellParser("date")
    if texts and all(PLAIN_INTEGER.match(text.strip()) for text in texts):
        widths = {len(text.strip()) for text in texts}
        if len(widths) > 1 or max(widths) <= 3:
            return CellParser("integer")
    return CellParser("text")


def build_domain(
    column: str, raw_values: Iterable[Any], parser: CellParser, *, fill: bool | None = None
) -> ValueDomain:
    """Build a domain from the distinct values of a column, including nulls.

    `fill` adds unobserved values between whole numbers and between dates. With None, values are
    added if that at most doubles the domain. An age that nobody has this year then has a position,
    while a sparse code keeps its gaps.

    Raises
    ------
    RequestError : a value cannot be read as the parser's kind.
    """
    values: set[Value] = {BELOW_ALL, *parser.edge_values} if parser.edges else set()
    unreadable = 0
    for raw in raw_values:
        try:
            values.add(parser(raw))
        except NotInKind:
            unreadable += 1
    if unreadable:
        raise RequestError(
            f"{unreadable:,} distinct value{'s' * (unreadable > 1)} cannot be read as "
            f"{parser.kind}",
            where=f"column {column}",
            instead="give the column another kind in the roles file",
        )
    nulls = (None,) if None in values else ()
    ordered: Sequence[Value] = sorted(v for v in values if v is not None)
    if not parser.edges:
        ordered = _fill_between(ordered, parser, fill)
    return ValueDomain(column, (*ordered, *nulls), parser)


def _fill_between(ordered: Sequence[Any], parser: CellParser, fill: bool | None) -> Sequence[Value]:
    if fill is False or len(ordered) < 2 or parser.kind not in ("integer", "date", "time"):
        return ordered
    first, last = (to_ordinal(v, parser) for v in (ordered[0], ordered[-1]))
    if fill is None and last - first + 1 > 2 * len(ordered):
        return ordered
    return [from_ordinal(i, parser) for i in range(first, last + 1)]


def to_ordinal(value: Any, parser: CellParser) -> int:
    """Number a whole number, day, month, year, hour or minute, so that neighbours differ by 1."""
    if parser.kind == "integer" or parser.by in ("year", "hour"):
        return int(value)
    if parser.kind == "time":
        return int(value[:2]) * 60 + int(value[3:])
    if parser.by == "month":
        return int(value[:4]) * 12 + int(value[5:]) - 1
    return dt.date.fromisoformat(value).toordinal()


def from_ordinal(number: int, parser: CellParser) -> Value:
    if parser.kind == "integer" or parser.by in ("year", "hour"):
        return number
    if parser.kind == "time":
        return f"{number // 60:02d}:{number % 60:02d}"
    if parser.by == "month":
        return f"{number // 12:04d}-{number % 12 + 1:02d}"
    return dt.date.fromordinal(number).isoformat()
