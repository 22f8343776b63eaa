"""The order and unit of times, with the same meaning for `fit` and `send`."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.model.readings.forms import NUMBER

REMEDY = "write all its values as numbers, or all as ISO dates such as 2026-03-01T08:00"
NUMBERS = pa.int64(), pa.float64()
DATES = tuple(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC"))


LATEST = 2.0**53  # ticks
PER_NUMBER = 1000  # ticks per unit if times are numbers; for dates a tick is a second
DAY = 86_400
UNITS: tuple[int, ...] = (7 * DAY, DAY, 3600, 60, 1)  # seconds
FINEST = 100  # maximum units in the median gap between two readings of a subject


def rank_moments(
    times: Sequence[pa.Array], column: str, rows: NDArray[np.int64] | None = None
) -> NDArray[np.intp]:
    """Return the dense rank of each time, from 1. Equal times have the same rank.

    Text is read as numbers if all of it is numeric. Otherwise it is read as ISO dates or times, all
    with a time zone or all without. `rows`, (n,), are row numbers in the source from 0, for the
    text of an error.

    >>> rank_moments([pa.array(["10", "9", "9.5"])], "day").tolist()
    [3, 1, 2]
    >>> rank_moments([pa.array(["2026-03-10", "2026-03-09"])], "day").tolist()
    [2, 1]
    """
    moments = _whole(times, column, rows)
    if not len(moments):
        return np.zeros(0, dtype=np.intp)
    found = pc.rank(moments, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(found.to_numpy(), dtype=np.intp)


class ReadingTicks(NamedTuple):
    """The times of readings, in ticks."""

    values: NDArray[np.int64]  # (n,)
    per: int  # ticks per day for dates or times, else per 1 of the column's numbers


@dataclass(frozen=True)
class TimeUnit:
    """The unit of time of a map, in ticks."""

    ticks: int
    per: int  # see `ReadingTicks`

    @property
    def is_of_dates(self) -> bool:
        """Whether a tick is a second. Otherwise it is a fraction of the column's unit."""
        return self.per == DAY

    def count(self, times: Sequence[pa.Array], column: str) -> NDArray[np.int64]:
        """Return times in this unit.

        Raises
        ------
        RequestError : as for `rank_moments`; or times are dates but the map has numbers, or the
            reverse.
        """
        found = count_ticks(times, column)
        if found.per != self.per:
            known, given = ("numbers", "dates") if found.per == DAY else ("dates", "numbers")
            raise RequestError(
                f"times are {given}, but the map was fitted to {known}",
                where=f"column {column}",
                instead="write them as they were",
            )
        return self.of(found.values)

    def of(self, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Convert ticks to this unit, rounded down."""
        return ticks // self.ticks


def count_ticks(times: Sequence[pa.Array], column: str) -> ReadingTicks:
    """Return times in ticks: seconds for dates and times, thousandths for numbers.

    >>> count_ticks([pa.array(["2026-03-10", "2026-03-09"])], "day").values.tolist()
    [1773100800, 1773014400]
    >>> count_ticks([pa.array([1.5, 2])], "hour")
    ReadingTicks(values=array([1500, 2000]), per=1000)
    """
    moments, of = _whole(times, column), pa.types
    if of.is_integer(moments.type) or of.is_floating(moments.type) or of.is_decimal(moments.type):
        values = moments.cast(pa.float64()).to_numpy(zero_copy_only=False) * PER_NUMBER
        if not (np.abs(values) <= LATEST).all():
            raise RequestError("a time is out of range", where=f"column {column}", instead=REMEDY)
        return ReadingTicks(np.rint(values).astype(np.int64), PER_NUMBER)
    if of.is_time(moments.type):  # time of day
        moments = moments.cast(pa.time64("ns")).cast(pa.int64())
        return ReadingTicks(np.asarray(moments.to_numpy(), dtype=np.int64) // 10**9, DAY)
    kind = "timedelta64[s]" if of.is_duration(moments.type) else "datetime64[s]"
    found = moments.to_numpy(zero_copy_only=False).astype(kind)
    return ReadingTicks(np.asarray(found.astype(np.int64), dtype=np.int64), DAY)


def unit_of(times: ReadingTicks, whose: NDArray[np.intp]) -> TimeUnit:
    """Return the unit of time for the gaps between readings of a subject.

    The unit is the common divisor of all gaps, if the median gap has at most `FINEST` such units.
    Otherwise it is a convenient unit of at most a tenth of the median gap. For example, it is an
    hour for daily readings with times to the second.
    """
    order = np.lexsort((times.values, whose))
    gaps = np.diff(times.values[order])[np.diff(whose[order]) == 0]
    gaps = gaps[gaps > 0]
    if not len(gaps):
        return TimeUnit(1, times.per)
    exact, middle = int(np.gcd.reduce(gaps)), float(np.median(gaps))
    if middle <= FINEST * exact:
        return TimeUnit(exact, times.per)
    handy: list[int] = [*UNITS, *(10**power for power in range(16))]
    return TimeUnit(max(unit for unit in handy if unit <= max(middle / 10, 1)), times.per)


def order_rows(
    table: NDArray[np.generic],
    whose: NDArray[np.intp],
    moments: NDArray[np.intp],
    number: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Sort rows by subject and time. Ties are sorted by values, then by number."""
    held = [np.unique(column, return_inverse=True)[1] for column in table.T]
    return np.lexsort((number, *held[::-1], moments, whose))


def _whole(
    times: Sequence[pa.Array], column: str, rows: NDArray[np.int64] | None = None
) -> pa.Array:
    """Return all times as one array, or refuse a missing time."""

    def where(row: int) -> str:
        return f"column {column}" if rows is None else f"row {rows[row] + 1:,}, column {column}"

    moments = _convert_moments(pa.chunked_array(times).combine_chunks(), where)
    missing = pc.is_null(moments, nan_is_null=True)
    if pc.any(missing, min_count=0).as_py():
        raise RequestError(
            "a row has no time, so its place in the order is unknown",
            where=where(pc.index(missing, True).as_py()),
            instead="fill it in, or leave the row out",
        )
    return moments


def _convert_moments(moments: pa.Array, where: Callable[[int], str]) -> pa.Array:
    """Convert times to a type that sorts in the order of time."""
    of = pa.types
    if of.is_dictionary(moments.type):
        moments = moments.cast(moments.type.value_type)
    if of.is_string_view(moments.type) or of.is_large_string(moments.type):
        moments = moments.cast(pa.string())
    if of.is_string(moments.type):
        blank = pc.equal(pc.utf8_trim_whitespace(moments), "")
        return _parse_text(pc.if_else(blank, None, moments), where)
    plain = of.is_integer, of.is_floating, of.is_decimal, of.is_date, of.is_timestamp
    if not any(test(moments.type) for test in (*plain, of.is_time, of.is_duration, of.is_null)):
        raise RequestError(f"{moments.type} is not a time", where=where(0), instead=REMEDY)
    return moments


def _parse_text(text: pa.Array, where: Callable[[int], str]) -> pa.Array:
    numbers = pc.all(pc.match_substring_regex(text, NUMBER), min_count=0).as_py()
    for type_ in NUMBERS if numbers else DATES:
        if (found := _cast(text, type_)) is not None:
            return found
    raise RequestError(
        "the order of time is unknown: values are not all numbers, nor all ISO dates, "
        "all with a zone or all without",
        where=where(_first_odd(text)),
        instead=REMEDY,
    )


def _cast(text: pa.Array, type_: pa.DataType) -> pa.Array | None:
    try:
        return text.cast(type_)
    except pa.ArrowInvalid:
        return None


def _first_odd(text: pa.Array) -> int:
    """Return the index of the first value that cannot be read like the values before it."""
    found = 0
    for type_ in (*NUMBERS, *DATES):
        lengths = range(1, len(text) + 1)
        own = bisect_left(lengths, True, key=lambda n: _cast(text.slice(0, n), type_) is None)
        found = max(found, own)
    return min(found, len(text) - 1)
