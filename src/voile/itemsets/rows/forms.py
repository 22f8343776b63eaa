"""The form of a column with the role `items`: its features, and its format in a release.

A form is learned once from a source. It can then read any batch of its column. It writes the column
in its original shape, with only the chosen features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from voile.core.brief import BriefRepr
from voile.itemsets.rows.scales import numbers_of

Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

ONE, ZERO = ("1", "true"), ("0", "false")
BETWEEN_WORDS = r"[^\p{L}\p{N}]+"


@dataclass(frozen=True, eq=False)
class FeatureCells(BriefRepr):
    """The features that the rows of a batch have.

    `row` and `code` : (ones,) the row and the feature's place in the form. The pairs are distinct
        and in rising order.

    `lost` : (rows,) True for the rows with a value that the form cannot read.
    """

    row: Integers
    code: Integers
    lost: Mask

    def only(self, kept: Mask) -> FeatureCells:
        """Return the cells of the features marked in the boolean array `kept`."""
        shown = kept[self.code]
        return FeatureCells(self.row[shown], self.code[shown], self.lost)


@dataclass(frozen=True)
class ColumnForm(BriefRepr, ABC):
    """Read and write one column, with one feature for each of the distinct `values`.

    `lacks` describes a cell that the form cannot read, and `remedy` describes the fix.
    """

    shows = ("kind", "column")

    kind: ClassVar[str]
    lacks: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    column: str
    values: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features: ``column=value``."""
        return tuple(f"{self.column}={value}" for value in self.values)

    @cached_property
    def value_array(self) -> pa.Array:
        return pa.array(self.values, pa.string())

    @property
    def type(self) -> pa.DataType:
        return pa.string()

    @abstractmethod
    def cells(self, array: pa.Array) -> FeatureCells:
        """Return the features of each row of the column.

        Values that are not features are ignored.
        """

    @abstractmethod
    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Return the column in its released format, with these cells and no others."""

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        """Return plain data for `form_of`, with the kept features only."""
        values = [v for x, v in enumerate(self.values) if kept is None or kept[x]]
        return {"column": self.column, "kind": self.kind, "values": values}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Return a form from the output of `to_data`, also after a round trip through JSON.

        The data must not include the kind.
        """
        named: dict[str, Any] = {n: tuple(x) if isinstance(x, list) else x for n, x in data.items()}
        return cls(**named)


@dataclass(frozen=True)
class BinaryForm(ColumnForm):
    """One feature, the column itself, with 0 and 1 as numbers, booleans or text.

    nulls_absent : whether a null counts as 0.
    """

    kind = "binary"
    lacks = "a value other than 0 and 1"
    remedy = (
        'make it 0 and 1, give it cuts or quantiles in the roles file, or nulls = "absent" '
        "if a missing value is a 0"
    )
    nulls_absent: bool = False

    @property
    def features(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def type(self) -> pa.DataType:
        """Integers. The release contains 0 and 1, whatever the spelling in the source."""
        return pa.int8()

    def cells(self, array: pa.Array) -> FeatureCells:
        """Return the rows with a 1.

        A null is a value that cannot be read, unless `nulls_absent`.
        """
        if pa.types.is_string(array.type):
            text = pc.utf8_lower(pc.utf8_trim_whitespace(array))
            one, zero = (pc.is_in(text, pa.array(spelt)) for spelt in (ONE, ZERO))
        else:
            numbers = array.cast(pa.int8() if pa.types.is_boolean(array.type) else array.type)
            one, zero = (pc.fill_null(pc.equal(numbers, x), False) for x in (1, 0))
        row = np.flatnonzero(_mask(one))
        read = _mask(one) | _mask(zero)
        if self.nulls_absent:
            read |= _mask(array.is_null(nan_is_null=True))
        return FeatureCells(row, np.zeros(len(row), dtype=np.int64), ~read)

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        """Return plain data. It includes `nulls_absent` only if that is True."""
        data = super().to_data(kept)
        return {**data, "nulls_absent": True} if self.nulls_absent else data

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write 0 and 1."""
        ones = np.zeros(len(cells.lost), dtype=np.int8)
        ones[cells.row] = 1
        return pa.array(ones)


@dataclass(frozen=True)
class CategoriesForm(ColumnForm):
    """One feature for each value of a column. A null has no feature."""

    kind = "categories"

    def cells(self, array: pa.Array) -> FeatureCells:
        """Look up each value. A value that was not seen in learning is not a feature."""
        text = array.cast(pa.string()).dictionary_encode()
        return _look_up_values(np.arange(len(array)), text, self.value_array, len(array))

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write the value, or null if it is not among the kept ones."""
        place = np.full(len(cells.lost), -1, dtype=np.int64)
        place[cells.row] = cells.code
        return self.value_array.take(pa.array(place, mask=place < 0))


@dataclass(frozen=True)
class IntervalsForm(CategoriesForm):
    """One feature for each interval between `cuts`. A cut belongs to the interval above it."""

    kind = "intervals"
    lacks = "a value that is not a number"
    remedy = "make it numbers or nulls, or leave its cuts or quantiles out"
    cuts: tuple[float, ...]

    @classmethod
    def between(cls, column: str, cuts: tuple[float, ...]) -> IntervalsForm:
        """Return a form with named intervals between the cuts, which must be in rising order."""
        names = [f"{cut:.15g}" for cut in cuts]
        inner = [f"{a} to below {b}" for a, b in pairwise(names)]
        return cls(column, (f"below {names[0]}", *inner, f"{names[-1]} and above"), cuts)

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the interval of each number.

        A null or NaN is in none, and text that is no number is lost.
        """
        numbers, lost = numbers_of(array)
        row = np.flatnonzero(~np.isnan(numbers))
        return FeatureCells(row, np.searchsorted(self.cuts, numbers[row], side="right"), lost)

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        return {**super().to_data(kept), "cuts": list(self.cuts)}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        return super().from_data({**data, "cuts": list(map(float, data["cuts"]))})


@dataclass(frozen=True)
class WordsForm(ColumnForm):
    """One feature for each word of a text: a run of letters and digits, in lower case."""

    kind = "words"

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the known words. A null has none."""
        row, word = words_of(array)
        return _look_up_values(row, word, self.value_array, len(array))

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write each word once, in alphabetical order.

        The order of the original text is not released.
        """
        return pc.binary_join(_lists(cells, self.value_array), " ")


@dataclass(frozen=True)
class ItemsForm(ColumnForm):
    """One feature for each item of a column of lists, such as transactions."""

    kind = "items"
    item: str

    @property
    def type(self) -> pa.DataType:
        return pa.list_(pa.type_for_alias(self.item))

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the known items. A null list and a null in a list have no feature."""
        row, item = items_of(array)
        return _look_up_values(row, item, self.value_array, len(array))

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write each item once, always in the same order."""
        return _lists(cells, self.value_array.cast(pa.type_for_alias(self.item)))

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        return {**super().to_data(kept), "item": self.item}


@dataclass(frozen=True)
class LongItems(ItemsForm):
    """The items of a long table: one item in each row, with the column of record ids."""

    kind = "long"
    record: str

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        return {**super().to_data(kept), "record": self.record}


def words_of(array: pa.Array) -> tuple[Integers, pa.DictionaryArray]:
    """Return the row and the text of each word, dictionary-encoded."""
    split = pc.split_pattern_regex(pc.utf8_lower(array), BETWEEN_WORDS)
    row, word = _flat(split)
    there = pc.not_equal(word, "")
    return row[_mask(there)], word.filter(there).dictionary_encode()


def items_of(array: pa.Array) -> tuple[Integers, pa.DictionaryArray]:
    """Return the row and the text of each item, dictionary-encoded."""
    row, item = _flat(array)
    encoded = item.dictionary_encode()
    texts = encoded.dictionary.cast(pa.string())
    return row, pa.DictionaryArray.from_arrays(encoded.indices, texts)


def _flat(lists: pa.Array) -> tuple[Integers, pa.Array]:
    row = np.asarray(pc.list_parent_indices(lists).to_numpy(zero_copy_only=False), dtype=np.int64)
    return row, pc.list_flatten(lists)


def _look_up_values(
    row: Integers, text: pa.DictionaryArray, values: pa.Array, rows: int
) -> FeatureCells:
    """Look up the values, and keep each pair of row and value once."""
    place = pc.index_in(text.dictionary, values).take(text.indices)
    known = _mask(place.is_valid())
    row, code = row[known], place.drop_null().to_numpy(zero_copy_only=False).astype(np.int64)
    pairs = row * max(len(values), 1) + code
    if not (pairs[1:] > pairs[:-1]).all():  # they already rise if the items of each row do
        row, code = np.divmod(np.unique(pairs), max(len(values), 1))
    return FeatureCells(row, code, np.zeros(rows, dtype=np.bool_))


def _lists(cells: FeatureCells, values: pa.Array) -> pa.Array:
    sizes = np.bincount(cells.row, minlength=len(cells.lost))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(cells.code)))


def _mask(truths: pa.Array) -> Mask:
    return np.asarray(truths.to_numpy(zero_copy_only=False), dtype=np.bool_)
