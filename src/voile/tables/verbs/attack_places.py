"""Order and number the exact values of people as an adversary can, with the public codebook."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.attack.records import distinct_rows
from voile.tables.domains.domain import encode_cells
from voile.tables.domains.parser import MOST_DECIMALS, CellParser, NotInKind
from voile.tables.recoding.codebook import CodedColumn
from voile.tables.recoding.possible import PossibleValues, numbering

Places = NDArray[np.int32]
NOWHERE = np.iinfo(np.int64).min


def places(column: CodedColumn, cells: Sequence[pa.ChunkedArray]) -> list[Places] | None:
    """Number the cells of several tables equally, in the order in which the column can be split.

    Numbers, dates and codes have their own order. Names are ordered by their rows in the first
    table, in descending order. Anybody with all rows can compute this order. Null is last. The
    result is None if the column is divided into bins, since their edges are not public.
    """
    parser, read, counted = column.parser, [], Counter[Any]()
    for number, one in enumerate(cells):
        raw, place = encode_cells(one)
        values = [_value(parser, cell) for cell in raw]
        read.append((values, place))
        if number == 0:
            for at, many in enumerate(np.bincount(place, minlength=len(raw)).tolist()):
                counted[values[at]] += many
    known = {value for values, _ in read for value in values if value is not None}
    if parser.kind == "decimal" and len(known) > MOST_DECIMALS:
        return None
    if parser.is_scale or all(str(value).isdigit() for value in known):
        order = sorted(known)
    else:
        order = sorted(known, key=lambda value: (-counted[value], value))
    rank = {value: n for n, value in enumerate([*order, None])}
    return [
        np.array([rank[value] for value in values], dtype=np.int32)[place] for values, place in read
    ]


def _value(parser: CellParser, cell: Any) -> Any:
    """Return a parsed cell, or None if it cannot be read."""
    try:
        return parser(cell)
    except NotInKind:
        return None


def groups_of(codes: NDArray[np.int32], released: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the number of each row's group among the released ones, or -1 if there is none."""
    _, place = distinct_rows(np.concatenate([released, codes]))
    group = np.full(place.max(initial=-1) + 1, -1, dtype=np.int64)
    group[place[: len(released)]] = np.arange(len(released))
    return group[place[len(released) :]]


def spans_of(column: CodedColumn) -> tuple[NDArray[np.int64], NDArray[np.bool_]] | None:
    """Return the first and last value of each interval, and which of these ends are split points.

    The result is None if the values of a column have no numbers: decimals, names, codes of several
    widths.
    """
    if any(entry.values for entry in column.entries):
        return None
    try:
        possible = PossibleValues.of(column)
    except RequestError:
        return None
    spans = np.column_stack([possible.first, possible.first + possible.known - 1])
    ends = np.array([[e.first is not None, e.last is not None] for e in column.entries])
    some = possible.known > 0
    outer = spans[some, 0].min(initial=0), spans[some, 1].max(initial=0)
    return spans, ends.reshape(-1, 2) & (spans != outer) & some[:, None]


def numbers_of(column: CodedColumn, cells: pa.ChunkedArray) -> NDArray[np.int64]:
    """Number the exact values of released rows in the same way as the ends of intervals."""
    number, _ = numbering(column)
    raw, place = encode_cells(cells)
    values = [_value(column.parser, cell) for cell in raw]
    return np.array([NOWHERE if v is None else number(v) for v in values], dtype=np.int64)[place]
