"""Types for formats in which each cell has its own type: Excel, JSON lines, statistics files."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Collection, Iterable
from functools import cached_property
from itertools import chain
from typing import Any

import pyarrow as pa

LARGEST_INT = 2**63
EXACT_FLOAT = 2**53


class ValueKinds:
    """Collect the values of a column, and return the one type that preserves all of them.

    Whole numbers are int64. Floats, also mixed with whole numbers, are double. Dates are date32,
    and dates with times of day are timestamp. Lists without nested lists and objects are lists of
    the type that preserves all their items. Any other mix is text, in the format of `as_text`.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def add(self, cells: Collection[object]) -> None:
        for kind in set(map(type, cells)) - {type(None), int}:
            self._seen.add(kind.__name__)
        whole = [cell for cell in cells if type(cell) is int]
        if whole:
            self._seen.add(_size(min(whole), max(whole)))
        if "list" in self._seen:
            lists = (cell for cell in cells if isinstance(cell, list))
            self._inside.add(list(chain.from_iterable(lists)))

    @cached_property
    def _inside(self) -> ValueKinds:
        """The kinds of the items in the lists."""
        return ValueKinds()

    def arrow(self) -> pa.DataType:
        """Return the narrowest Arrow type for all cells seen, or text if there are none."""
        if self._seen == {"list"} and not self._inside._seen & {"list", "dict"}:
            return pa.list_(self._inside.arrow())
        for kinds, arrow in _TYPES:
            if self._seen and self._seen <= kinds:
                return arrow
        return pa.string()


_TYPES = (
    ({"bool"}, pa.bool_()),
    ({"int", "small"}, pa.int64()),
    ({"float", "small"}, pa.float64()),
    ({"date"}, pa.date32()),
    ({"date", "datetime"}, pa.timestamp("us")),
    ({"time"}, pa.time64("us")),
    ({"bytes"}, pa.binary()),
)


def _size(least: int, most: int) -> str:
    if least >= -EXACT_FLOAT and most <= EXACT_FLOAT:
        return "small"
    return "int" if least >= -LARGEST_INT and most < LARGEST_INT else "huge"


def whole(value: object) -> object:
    """Convert a float without a fraction to an int, for formats that store all numbers as floats.

    >>> whole(89.0), whole(0.5), whole("89.0")
    (89, 0.5, '89.0')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) <= EXACT_FLOAT:
        return int(value)
    return value


def column(values: Iterable[object], kind: pa.DataType) -> pa.Array:
    """Convert cells to a type that `ValueKinds` returned."""
    convert = _conversion(kind)
    return pa.array(values if convert is None else _each(values, convert), kind)


def _conversion(kind: pa.DataType) -> Callable[[Any], object] | None:
    """Return the function that converts a cell to this type, or None if Arrow does so itself."""
    if pa.types.is_string(kind):
        return as_text
    if pa.types.is_timestamp(kind):
        return _moment
    if pa.types.is_list(kind) and (convert := _conversion(kind.value_type)) is not None:
        return lambda items: _each(items, convert)
    return None


def _each(values: Iterable[object], convert: Callable[[Any], object]) -> list[object]:
    return [None if value is None else convert(value) for value in values]


def _moment(value: object) -> object:
    if isinstance(value, dt.date) and not isinstance(value, dt.datetime):
        return dt.datetime(value.year, value.month, value.day)
    return value


def as_text(value: object) -> str:
    """Format a cell of a mixed column as text.

    >>> as_text("00501"), as_text(501), as_text(True), as_text([1, None])
    ('00501', '501', 'true', '[1,null]')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return str(value)
