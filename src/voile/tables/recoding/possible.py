"""List the possible values of an interval of a public codebook, with equal probabilities."""

from __future__ import annotations

import datetime as dt
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.core.errors import RequestError
from voile.tables.domains.domain import from_ordinal, to_ordinal
from voile.tables.domains.labels import MISSING
from voile.tables.domains.parser import CellParser
from voile.tables.recoding.codebook import CodebookEntry, CodedColumn

Ints = NDArray[np.int64]
EPOCH = dt.date(1970, 1, 1).toordinal()
LARGEST = 2**63
A_DAY = 24 * 60 * 60 * 1000  # ms


@dataclass(frozen=True, eq=False)
class PossibleValues(BriefRepr):
    """The possible values of each interval of a column.

    Attributes
    ----------
    first : (intervals,) int64, the number of the first known value of each interval.
    known : (intervals,) int64, the number of consecutive known values from there.
    missing : (intervals,) bool, whether null is one more possible value.
    write : a function that converts the numbers of values to cells.
    """

    shows = ("known",)

    first: Ints
    known: Ints
    missing: NDArray[np.bool_]
    write: Callable[[Ints], pa.Array]

    @classmethod
    def of(cls, column: CodedColumn) -> PossibleValues:
        """List the values of a column's intervals.

        Raises
        ------
        RequestError : the values cannot be listed: decimals, codes of several widths, or numbers
            beyond 2^63.
        """
        if any(entry.values for entry in column.entries):
            values = [value for entry in column.entries for value in entry.values]
            known = np.array([len(entry.values) for entry in column.entries], dtype=np.int64)
            first = np.cumsum(known) - known
            return cls(first, known, _missing(column, known), pa.array(values, pa.string()).take)
        runs, write = _runs(column)
        reach = sum(last - first + 1 for first, last in runs)
        if max([reach, *(abs(end) for run in runs for end in run)], default=0) >= LARGEST:
            raise RequestError(
                "numbers beyond 2^63 have no list of values",
                where=f"column {column.column}",
                instead="leave it out of the requested columns: its cells are then means",
            )
        first, last = np.array(runs, dtype=np.int64).reshape(-1, 2).T
        known = last - first + 1
        return cls(first, known, _missing(column, known), write)

    @property
    def sizes(self) -> Ints:
        """Return the number of possible values of each interval, including null, (intervals,)."""
        return self.known + self.missing

    def cells(self, interval: NDArray[np.int32], nth: Ints) -> pa.Array:
        """Return the `nth` value of each interval. Null is the last."""
        known = nth < self.known[interval]
        made = self.write((self.first[interval] + nth)[known])
        places = np.cumsum(known) - 1
        return made.take(pa.array(places, pa.int64(), mask=~known))


def _runs(column: CodedColumn) -> tuple[list[tuple[int, int]], Callable[[Ints], pa.Array]]:
    """Return the numbers of each interval's first and last known value, and a writer of values."""
    number, write = numbering(column)
    ends = _ends(column)
    return [(0, -1) if e is None else (number(e[0]), number(e[1])) for e in ends], write


def _missing(column: CodedColumn, known: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the intervals that may contain null: missing values, or no known value."""
    said = np.array([e.missing for e in column.entries], dtype=np.bool_)
    return np.asarray(said | np.equal(known, 0))


def _ends(column: CodedColumn) -> list[tuple[Any, Any] | None]:
    """Return the least and the greatest known value of each interval, or None if there is none.

    An open end is replaced by the outermost value that any interval of the column shows.
    """
    read = column.parser.restore
    both = [[None if end is None else read(end) for end in e.bounds] for e in column.entries]
    shown: list[Any] = [end for ends in both for end in ends if end is not None]
    return [
        None
        if not shown or entry.label == MISSING
        else (min(shown) if low is None else low, max(shown) if high is None else high)
        for entry, (low, high) in zip(column.entries, both, strict=True)
    ]


def widths(column: CodedColumn) -> NDArray[np.float64]:
    """Return the number of possible values of each interval. For decimals, return its width."""
    if any(entry.values for entry in column.entries):
        return PossibleValues.of(column).sizes.astype(np.float64)
    if column.parser.kind != "decimal":
        known = np.array([float(last - first + 1) for first, last in _runs(column)[0]])
        return known + _missing(column, known)
    reach = [0.0 if e is None else float(e[1] - e[0]) for e in _ends(column)]
    # a single value has the width of the narrowest interval
    least = min((width for width in reach if width > 0), default=1.0)
    return np.maximum(reach, least)


def numbering(column: CodedColumn) -> tuple[Callable[[Any], int], Callable[[Ints], pa.Array]]:
    """Return a function that numbers a column's values, and a function that writes them.

    Neighbouring values have numbers that differ by 1.

    Raises
    ------
    RequestError : the values are decimals, or codes of several widths.
    """
    parser = column.parser
    if parser.kind == "decimal":
        raise RequestError(
            "decimals have no list of values",
            where=f"column {column.column}",
            instead="leave it out of the requested columns: its cells are then means",
        )
    if parser.kind == "text":
        width = _width(column)
        return int, lambda numbers: _as_text(numbers, lambda n: f"{n:0{width}d}")
    if parser.kind == "integer" or parser.by in ("year", "hour"):
        return int, lambda numbers: pa.array(numbers, pa.int64())
    return (
        lambda value: to_ordinal(value, parser),
        lambda numbers: _as_text(numbers, lambda n: str(from_ordinal(n, parser))),
    )


def _as_text(numbers: Ints, write: Callable[[int], str]) -> pa.Array:
    distinct, places = np.unique(numbers, return_inverse=True)
    return pa.array([write(int(n)) for n in distinct], pa.string()).take(pa.array(places))


def _width(column: CodedColumn) -> int:
    """Return the number of digits that all codes of a column have."""
    ends = [end for entry in column.entries for end in entry.bounds if end is not None]
    widths = {len(end) if end.isascii() and end.isdigit() else 0 for end in ends} or {1}
    if len(widths) > 1 or 0 in widths:
        raise RequestError(
            "codes of several widths have no list of values",
            where=f"column {column.column}",
            instead="leave it out of the requested columns: its cells are then labels",
        )
    return widths.pop()


def expect_cells(column: CodedColumn) -> pa.Array:
    """Return one cell for each interval: the mean of its known values, or the label of text."""
    parser = column.parser
    if not parser.is_scale:
        return pa.array([_text(entry) for entry in column.entries], pa.string())
    middles = [None if e is None else _middle(*e, parser) for e in _ends(column)]
    if _is_day(parser):
        return pa.array(
            [None if m is None else round((m - EPOCH) * A_DAY) for m in middles],
            pa.timestamp("ms"),
        )
    return pa.array(middles, pa.float64())


def _text(entry: CodebookEntry) -> str | None:
    if entry.label == MISSING:
        return None
    alone = len(entry.values) == 1 and not entry.missing
    return entry.values[0] if alone else entry.label


def _is_day(parser: CellParser) -> bool:
    return parser.kind == "date" and parser.by in ("day", "month")


def _middle(first: Any, last: Any, parser: CellParser) -> float:
    """Return the mean of two ends: a number, a year, a time in hours, or a day's ordinal."""
    if parser.kind == "decimal":
        return float((first + last) / 2)
    if parser.kind == "date" and parser.by == "month":
        days = monthrange(int(last[:4]), int(last[5:]))[1]
        ends = (dt.date.fromisoformat(f"{first}-01"), dt.date.fromisoformat(f"{last}-{days}"))
        return sum(end.toordinal() for end in ends) / 2
    middle = (to_ordinal(first, parser) + to_ordinal(last, parser)) / 2
    return middle / 60 if parser.kind == "time" and parser.by == "minute" else middle
