"""Compute the keys of values and of texts: the strings on which the search joins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.gate.values.folding import (
    FoldedCells,
    cells_of,
    fold_text,
    fold_with_decoded,
    fold_with_spellings,
    strings_of,
)
from voile.gate.values.kernels import keys as kernels
from voile.gate.values.kernels.dates import find_days
from voile.gate.values.kernels.tokens import (
    add_keys,
    count_tokens,
    gather,
    split_tokens,
    test_keys,
)

BITS = 28
"""The binary logarithm of the number of bits of a filter.

The number of bits bounds the memory. The filter never loses a key.
"""
LONGEST_DATE = 32
"""The length of the longest value that is only a date, such as `2001-02-03T04:05:06.000+01:00`."""
DATE_MARK, NOTHING = (pa.scalar(one, pa.large_string()) for one in ("#", ""))


class KeyFilter:
    """A bitmap that contains every added key, and some other keys by chance."""

    def __init__(self, bits: int = BITS) -> None:
        self.bits = bits
        self.bitmap = np.zeros(1 << (bits - 3), np.uint8)

    def add(self, keys: pa.LargeStringArray) -> None:
        """Add keys to the filter."""
        cells = cells_of(keys)
        add_keys(cells.data, cells.offsets[:-1], cells.offsets[1:], self.bitmap, self.bits)

    def test(self, keys: pa.LargeStringArray) -> NDArray[np.bool_]:
        """Return which keys the filter may contain."""
        cells = cells_of(keys)
        return test_keys(cells.data, cells.offsets[:-1], cells.offsets[1:], self.bitmap, self.bits)


def digest_strings(keys: pa.LargeStringArray) -> NDArray[np.uint64]:
    """Return the digest of each string."""
    cells = cells_of(keys)
    digests: NDArray[np.uint64] = kernels.digest_keys(cells.data, cells.offsets)
    return digests


@dataclass(frozen=True)
class CellKeys:
    """Keys with their rows, forms, numbers of tokens and encodings, each (keys,).

    marks : for a text, whether the key is the whole cell. For a value, whether few texts have such
        a key by chance. It is then a code, a number or several words, and not a date.
    """

    keys: pa.LargeStringArray
    rows: NDArray[np.int64]
    forms: NDArray[np.int64]
    tokens: NDArray[np.int64]
    encodings: NDArray[np.uint8]
    marks: NDArray[np.bool_]

    def where(self, mask: NDArray[np.bool_]) -> CellKeys:
        """Return the keys that a mask selects."""
        return CellKeys(
            self.keys.filter(pa.array(mask)),
            self.rows[mask],
            self.forms[mask],
            self.tokens[mask],
            self.encodings[mask],
            self.marks[mask],
        )


@dataclass(frozen=True)
class QuotedLabels:
    """The keys of released labels.

    Interval boundaries within a quoted label do not count as values.

    data, offsets : the keys, by ascending digest.
    digests : the digest of each key.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    digests: NDArray[np.uint64]

    @classmethod
    def of(cls, labels: Iterable[str]) -> QuotedLabels:
        """Return the keys of some labels."""
        keys = sorted({"".join(folded.split()) for one in labels if (folded := fold_text(one))})
        strings = pa.array(keys, pa.large_string())
        digests = digest_strings(strings)
        order = np.argsort(digests, kind="stable")
        ordered = cells_of(strings.take(pa.array(order)))
        return cls(ordered.data, ordered.offsets, digests[order])


class _CellTokens:
    """The tokens of folded cells.

    With `has_serials`, numbers may be a spreadsheet's serial days.
    """

    def __init__(self, cells: FoldedCells, *, has_serials: bool) -> None:
        self.cells, self.has_serials = cells, has_serials
        data, offsets = cells.data, cells.offsets
        count = count_tokens(data, offsets)
        self.canonical = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
        self.starts = np.empty(count + 1, np.int64)
        self.of_cell = np.empty(count, np.int32)
        split_tokens(data, offsets, self.canonical, self.starts, self.of_cell)
        self.hidden = np.zeros(count, np.bool_)

    def find(self, kernel: Callable[..., int], *given: object) -> CellKeys:
        """Return the keys that a kernel finds."""
        found = np.empty((len(self.of_cell) // 2 + 64, 6), np.int64)
        count = kernel(self.canonical, self.starts, self.of_cell, *given, found)
        if count > len(found):
            found = np.empty((count, 6), np.int64)
            kernel(self.canonical, self.starts, self.of_cell, *given, found)
        return self._keys_of(found[:count])

    def _keys_of(self, found: NDArray[np.int64]) -> CellKeys:
        starts, ends, cells, forms, tokens, whole = np.ascontiguousarray(found.T)
        sizes = ends - starts
        data = np.empty(int(sizes.sum()), np.uint8)
        gather(self.canonical, starts, ends, data, False)
        keys = strings_of(data, np.cumsum(sizes))
        rows, encodings = self.cells.rows[cells], self.cells.encodings[cells]
        return CellKeys(keys, rows, forms, tokens, encodings, whole.astype(np.bool_))

    @cached_property
    def days(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The cell and the day of each date."""
        found = np.empty((len(self.of_cell) // 2 + 16, 2), np.int64)
        given = (self.canonical, self.starts, self.of_cell, self.hidden, self.has_serials)
        count = find_days(*given, found)
        if count > len(found):
            found = np.empty((count, 2), np.int64)
            find_days(*given, found)
        cells, days = np.ascontiguousarray(found[:count].T)
        return cells, days

    @property
    def dates(self) -> CellKeys:
        """The keys of dates, such as `#19330710`."""
        return self._date_keys(*self.days)

    def dates_near(self, offsets: Sequence[int]) -> CellKeys:
        """Return the keys of the days at given offsets, in days, from each date."""
        cells, days = self.days
        near = _move_days(days, np.asarray(offsets, np.int64))
        return self._date_keys(np.repeat(cells, len(offsets)), near.ravel())

    def _date_keys(self, cells: NDArray[np.int64], days: NDArray[np.int64]) -> CellKeys:
        digits = pa.array(days).cast(pa.large_string())
        keys = pc.binary_join_element_wise(DATE_MARK, digits, NOTHING)
        n = len(days)
        return CellKeys(
            keys,
            self.cells.rows[cells],
            np.full(n, kernels.DATE),
            np.full(n, 3),
            self.cells.encodings[cells],
            np.zeros(n, np.bool_),
        )


def _move_days(days: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return days such as 19330710 moved by each offset, (days, offsets)."""
    months = (days // 10_000 - 1970) * 12 + days // 100 % 100 - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]")
    moved = (first + (days % 100 - 1))[:, None] + offsets
    month = moved.astype("datetime64[M]")
    number = month.astype(np.int64)
    day = (moved - month.astype("datetime64[D]")).astype(np.int64) + 1
    result: NDArray[np.int64] = (1970 + number // 12) * 10_000 + (number % 12 + 1) * 100 + day
    return result


@dataclass(frozen=True)
class ValueKeys:
    """The keys of values, and decoys: keys of the same shape that belong to nobody by construction.

    near : the keys of the days at the given offsets from each date of a value.
    short : the number of values that are not searched because they are shorter than three letters,
        or than two digits for a number.
    """

    keys: CellKeys
    decoys: CellKeys
    near: CellKeys
    short: int


def find_value_keys(values: pa.LargeStringArray, offsets: Sequence[int] = ()) -> ValueKeys:
    """Return every key of some values.

    A decoy is a key of a rare shape with all characters after the first in reverse order. If there
    are offsets, a date has only one key: its day.
    """
    tokens = _CellTokens(fold_with_spellings(values), has_serials=False)
    found, dates = tokens.find(kernels.find_value_keys), tokens.dates
    is_date, is_searched = np.zeros((2, len(values)), np.bool_)
    is_date[dates.rows] = True
    is_searched[found.rows] = is_searched[dates.rows] = True
    found = replace(found, marks=_has_rare_shape(found) & ~is_date[found.rows])
    if len(offsets):  # any notation of a day has the chance of the day itself
        is_short = pc.less_equal(pc.utf8_length(values), LONGEST_DATE).to_numpy(
            zero_copy_only=False
        )
        found = found.where(~(is_date & is_short)[found.rows])
    rare = found.where(found.marks)
    decoys = replace(rare, keys=_reverse(rare.keys))
    near = tokens.dates_near(offsets)
    return ValueKeys(join_keys(found, dates), decoys, near, int((~is_searched).sum()))


def _has_rare_shape(found: CellKeys) -> NDArray[np.bool_]:
    """Return which keys are codes, numbers or several words."""
    is_long = pc.greater_equal(pc.binary_length(found.keys), kernels.LEAST_DIGITS).to_numpy(False)
    has_digit = pc.match_substring_regex(found.keys, "[0-9]").to_numpy(False)
    own = np.isin(found.forms, (kernels.WHOLE, kernels.DIGITS, kernels.PASSAGE))
    result: NDArray[np.bool_] = own & is_long & (has_digit | (found.tokens > 1))
    return result


def _reverse(keys: pa.LargeStringArray) -> pa.LargeStringArray:
    cells = cells_of(keys)
    offsets = cells.offsets
    data = np.empty(int(offsets[-1] - offsets[0]), np.uint8)
    gather(cells.data, offsets[:-1], offsets[1:], data, True)
    return strings_of(data, np.asarray(offsets[1:] - offsets[0]))


def find_text_keys(texts: pa.LargeStringArray, values: KeyFilter, labels: QuotedLabels) -> CellKeys:
    """Return the keys of texts that may be in the filter of the values' keys."""
    tokens = _CellTokens(fold_with_decoded(texts), has_serials=True)
    if len(labels.digests):
        kernels.hide_labels(
            tokens.canonical,
            tokens.starts,
            tokens.of_cell,
            labels.data,
            labels.offsets,
            labels.digests,
            tokens.hidden,
        )
    given = (tokens.hidden, values.bitmap, values.bits)
    dates = tokens.dates
    return join_keys(
        tokens.find(kernels.find_text_keys, *given),
        tokens.find(kernels.find_glued_keys, *given),
        dates.where(values.test(dates.keys)),
    )


def join_keys(*several: CellKeys) -> CellKeys:
    """Concatenate several sets of keys."""
    arrays = zip(*((x.rows, x.forms, x.tokens, x.encodings, x.marks) for x in several), strict=True)
    keys = pa.concat_arrays([one.keys for one in several])
    return CellKeys(keys, *(np.concatenate(own) for own in arrays))
