"""The form of a column of the role `items`: its features, and its released form.

A form is learnt once from a source. It then reads any batch of its column. It writes the column in
its original shape, with the chosen features only.
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
    """Which of a form's features the rows of a batch have.

    `row`, `code` : (ones,) the row and the feature's place in the form; pairs rise and are
    distinct. `lost` : (rows,) the rows that hold a value which the form cannot read.
    """

    row: Integers
    code: Integers
    lost: Mask

    def only(self, kept: Mask) -> FeatureCells:
        """Return the cells of the features kept, by a boolean for each."""
        shown = kept[self.code]
        return FeatureCells(self.row[shown], self.code[shown], self.lost)


@dataclass(frozen=True)
class ColumnForm(BriefRepr, ABC):
    """Read and write one column, with a feature for each of `values`, which are distinct.

    `lacks` names the fault of a cell that it cannot read, and `remedy` the fix.
    """

    shows = ("kind", "column")

    kind: ClassVar[str]
    lacks: ClassVar[str] = ""
    remedy: ClassVar[str] = ""
    column: str
    values: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """The features' names: ``column=value``."""
        return tuple(f"{self.column}={value}" for value in self.values)

    @cached_property
    def value_array(self) -> pa.Array:
        return pa.array(self.values, pa.string())

    @property
    def type(self) -> pa.DataType:
        return pa.string()

    @abstractmethod
    def cells(self, array: pa.Array) -> FeatureCells:
        """Return which features each row of the column has, without values that are no feature."""

    @abstractmethod
    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Return the column, as it is released, with these cells and no others."""

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        """Return plain data that `form_of` reads back, of the features kept alone."""
        values = [v for x, v in enumerate(self.values) if kept is None or kept[x]]
        return {"column": self.column, "kind": self.kind, "values": values}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Self:
        """Read back what `to_data` and JSON made, but for its kind."""
        named: dict[str, Any] = {n: tuple(x) if isinstance(x, list) else x for n, x in data.items()}
        return cls(**named)


@dataclass(frozen=True)
class BinaryForm(ColumnForm):
    """One feature, the column itself: 0 and 1, true and false, as numbers, booleans or text.

    nulls_absent : whether the data holder takes a null for 0.
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
        """Integers: however the source spelt them, a recipient sees 0 and 1."""
        return pa.int8()

    def cells(self, array: pa.Array) -> FeatureCells:
        """Read 1 as having the item; unless nulls are absent, a null may be an item."""
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
        """Return plain data; the choice for nulls only where it was made."""
        data = super().to_data(kept)
        return {**data, "nulls_absent": True} if self.nulls_absent else data

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write 0 and 1."""
        ones = np.zeros(len(cells.lost), dtype=np.int8)
        ones[cells.row] = 1
        return pa.array(ones)


@dataclass(frozen=True)
class CategoriesForm(ColumnForm):
    """A feature for each value of a column; a null has none of them."""

    kind = "categories"

    def cells(self, array: pa.Array) -> FeatureCells:
        """Look each value up; one that was never seen is not a feature."""
        text = array.cast(pa.string()).dictionary_encode()
        return _look_up_values(np.arange(len(array)), text, self.value_array, len(array))

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write the value, and null where it is not one of those kept."""
        place = np.full(len(cells.lost), -1, dtype=np.int64)
        place[cells.row] = cells.code
        return self.value_array.take(pa.array(place, mask=place < 0))


@dataclass(frozen=True)
class IntervalsForm(CategoriesForm):
    """A feature for each interval between `cuts`; a cut belongs to the interval above it."""

    kind = "intervals"
    lacks = "a value that is not a number"
    remedy = "make it numbers or nulls, or leave its cuts or quantiles out"
    cuts: tuple[float, ...]

    @classmethod
    def between(cls, column: str, cuts: tuple[float, ...]) -> IntervalsForm:
        """Name the intervals between cuts, which rise."""
        names = [f"{cut:.15g}" for cut in cuts]
        inner = [f"{a} to below {b}" for a, b in pairwise(names)]
        return cls(column, (f"below {names[0]}", *inner, f"{names[-1]} and above"), cuts)

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the interval; a null or NaN is in none, and text that is not a number is lost."""
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
    """A feature for each word of a text: a run of letters and digits, in lower case."""

    kind = "words"

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the words that are known; a null has none."""
        row, word = words_of(array)
        return _look_up_values(row, word, self.value_array, len(array))

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write each word once, in alphabetical order: the text's own is not released."""
        return pc.binary_join(_lists(cells, self.value_array), " ")


@dataclass(frozen=True)
class ItemsForm(ColumnForm):
    """A feature for each item of a column of lists, as transactions are read."""

    kind = "items"
    item: str

    @property
    def type(self) -> pa.DataType:
        return pa.list_(pa.type_for_alias(self.item))

    def cells(self, array: pa.Array) -> FeatureCells:
        """Find the items that are known; a null, as a list or within one, is none."""
        row, item = items_of(array)
        return _look_up_values(row, item, self.value_array, len(array))

    def write_column(self, cells: FeatureCells) -> pa.Array:
        """Write the items in one order, each once."""
        return _lists(cells, self.value_array.cast(pa.type_for_alias(self.item)))

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        return {**super().to_data(kept), "item": self.item}


@dataclass(frozen=True)
class LongItems(ItemsForm):
    """As `ItemsForm`, of a long table: an item in each row, and the column of its record's id."""

    kind = "long"
    record: str

    def to_data(self, kept: Mask | None = None) -> dict[str, Any]:
        return {**super().to_data(kept), "record": self.record}


def words_of(array: pa.Array) -> tuple[Integers, pa.DictionaryArray]:
    """Return the row and the text of each word; each distinct text once."""
    split = pc.split_pattern_regex(pc.utf8_lower(array), BETWEEN_WORDS)
    row, word = _flat(split)
    there = pc.not_equal(word, "")
    return row[_mask(there)], word.filter(there).dictionary_encode()


def items_of(array: pa.Array) -> tuple[Integers, pa.DictionaryArray]:
    """Return the row and the text of each item; each distinct text once."""
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
    """Look values up, and keep each pair of row and value once."""
    place = pc.index_in(text.dictionary, values).take(text.indices)
    known = _mask(place.is_valid())
    row, code = row[known], place.drop_null().to_numpy(zero_copy_only=False).astype(np.int64)
    pairs = row * max(len(values), 1) + code
    if not (pairs[1:] > pairs[:-1]).all():  # as they are where each row's items rise
        row, code = np.divmod(np.unique(pairs), max(len(values), 1))
    return FeatureCells(row, code, np.zeros(rows, dtype=np.bool_))


def _lists(cells: FeatureCells, values: pa.Array) -> pa.Array:
    sizes = np.bincount(cells.row, minlength=len(cells.lost))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values.take(pa.array(cells.code)))


def _mask(truths: pa.Array) -> Mask:
    return np.asarray(truths.to_numpy(zero_copy_only=False), dtype=np.bool_)
