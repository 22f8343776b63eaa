"""The order of time, by what a column of it means: the same for fit and for send."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.signals.readings.forms import NUMBER

REMEDY = "write all its values as numbers, or all as ISO dates such as 2026-03-01T08:00"
NUMBERS = pa.int64(), pa.float64()
DATES = tuple(pa.timestamp(unit, zone) for unit in ("us", "ns") for zone in (None, "UTC"))


def rank_moments(times: Sequence[pa.Array], column: str) -> NDArray[np.intp]:
    """Return each moment's place among all, from 1 up; equal moments share theirs.

    Text is taken for numbers where it holds nothing else, and for ISO dates or times otherwise,
    all with a time zone or none.

    >>> rank_moments([pa.array(["10", "9", "9.5"])], "day").tolist()
    [3, 1, 2]
    >>> rank_moments([pa.array(["2026-03-10", "2026-03-09"])], "day").tolist()
    [2, 1]
    """
    moments = _meant(pa.chunked_array(times).combine_chunks(), f"column {column}")
    missing = pc.is_null(moments, nan_is_null=True)
    if pc.any(missing, min_count=0).as_py():
        raise RequestError(
            "a row has no time, so its place in the order is unknown",
            where=f"column {column}",
            instead="fill it in, or leave the row out",
        )
    if not len(moments):
        return np.zeros(0, dtype=np.intp)
    found = pc.rank(moments, sort_keys="ascending", tiebreaker="dense")
    return np.asarray(found.to_numpy(), dtype=np.intp)


def order_rows(
    table: NDArray[np.generic],
    whose: NDArray[np.intp],
    moments: NDArray[np.intp],
    number: NDArray[np.int64],
) -> NDArray[np.intp]:
    """Order rows by subject and time, those of one moment by what they hold, then by number."""
    held = [np.unique(column, return_inverse=True)[1] for column in table.T]
    return np.lexsort((number, *held[::-1], moments, whose))


def _meant(moments: pa.Array, where: str) -> pa.Array:
    """Return moments as a type whose order is that of time."""
    of = pa.types
    if of.is_dictionary(moments.type):
        moments = moments.cast(moments.type.value_type)
    if of.is_string_view(moments.type) or of.is_large_string(moments.type):
        moments = moments.cast(pa.string())
    if of.is_string(moments.type):
        blank = pc.equal(pc.utf8_trim_whitespace(moments), "")
        return _read(pc.if_else(blank, None, moments), where)
    plain = of.is_integer, of.is_floating, of.is_decimal, of.is_date, of.is_timestamp
    if not any(test(moments.type) for test in (*plain, of.is_time, of.is_duration, of.is_null)):
        raise RequestError(f"{moments.type} is no time", where=where, instead=REMEDY)
    return moments


def _read(text: pa.Array, where: str) -> pa.Array:
    numbers = pc.all(pc.match_substring_regex(text, NUMBER), min_count=0).as_py()
    for type_ in NUMBERS if numbers else DATES:
        try:
            return text.cast(type_)
        except pa.ArrowInvalid:
            pass
    raise RequestError(
        "the order of time is unknown: not all values are numbers, nor all ISO dates",
        where=where,
        instead=REMEDY,
    )
