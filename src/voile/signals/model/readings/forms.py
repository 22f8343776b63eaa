"""Convert the cells of a reading column to numbers or nominal values, and check them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from voile.core.errors import RequestError
from voile.core.mistakes import mistakes
from voile.data.roles import Roles
from voile.signals.model.codec.limits import ReadingLimits
from voile.signals.model.codec.nominal import NOMINAL

LARGEST = 2.0**52  # larger than any reading on its lattice
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
COMMA = r"^\s*[+-]?\d+,\d+\s*$"
INFINITE = r"^(?i)\s*[+-]?(inf|infinity|nan)\s*$"


class ReadingSettings(BaseModel):
    """The settings of a reading column in a roles file, in addition to its role.

    resolution : width of the cells to which readings were rounded, > 0. None: estimated from the
        data.
    nominal : whether its values are names without an order.
    ordinal : its values in order, if they are ordered names. They are sent as 0, 1, 2, ...
    invariant : whether it never changes within a subject, like height.
    bounds : smallest and largest possible reading. The recipient rejects readings outside.
    relation : a formula of other readings and known columns that determines it, up to rounding.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    resolution: float | None = Field(default=None, gt=0)
    nominal: bool = False
    ordinal: tuple[str, ...] | None = Field(default=None, min_length=2)
    invariant: bool = False
    bounds: tuple[float, float] | None = None
    relation: str | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> ReadingSettings:
        if self.nominal + (self.ordinal is not None) + (self.resolution is not None) > 1:
            raise ValueError("is either nominal, ordinal or of a resolution")
        if self.relation is not None and (self.nominal or self.ordinal is not None):
            raise ValueError("has a relation, and is no number")
        if self.ordinal is not None and len(set(self.ordinal)) < len(self.ordinal):
            raise ValueError("an ordinal value is named twice")
        if self.bounds is not None and not self.bounds[0] < self.bounds[1]:
            raise ValueError("the bounds do not rise")
        return self


class SideSettings(BaseModel):
    """The settings of a known column in a roles file, in addition to its role.

    sent : whether it is sent in the clear with each message. Otherwise the recipient already has
        it.
    resolution, nominal : as for readings.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    sent: bool = False
    resolution: float | None = Field(default=None, gt=0)
    nominal: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> SideSettings:
        if self.nominal and self.resolution is not None:
            raise ValueError("is either nominal or of a resolution")
        return self


@dataclass(frozen=True, eq=False)
class ReadingCellValues:
    values: NDArray[Any]  # (n,) float64, NaN where missing; text for nominal columns
    missing: NDArray[np.bool_]  # (n,) bool: null, NaN or infinite
    strange: NDArray[np.bool_]  # (n,) bool: invalid in this column, such as text among numbers


@dataclass(frozen=True)
class KnownColumn:
    """A column that the adversary is assumed to know, and the form of its cells."""

    column: str
    settings: SideSettings

    @classmethod
    def all_of(cls, roles: Roles) -> tuple[KnownColumn, ...]:
        """Return the known columns sorted by name.

        Maps number these columns, and stored roles have no order.
        """
        names = sorted(roles.of("known"))
        return tuple(cls(name, _read_settings(SideSettings, roles, name)) for name in names)

    @property
    def resolution(self) -> float | str | None:
        return NOMINAL if self.settings.nominal else self.settings.resolution

    @property
    def lacks(self) -> str:
        return "no text" if self.settings.nominal else "no number"

    def cells(self, column: pa.Array) -> ReadingCellValues:
        """Read cells. Missing and invalid cells become None."""
        read = _names(column) if self.settings.nominal else _numbers(column)
        values = read.values.astype(object)
        values[read.missing | read.strange] = None
        return ReadingCellValues(values, read.missing, read.strange)


@dataclass(frozen=True)
class ReadingColumn:
    """A column of readings and the form of its cells."""

    column: str
    settings: ReadingSettings

    @classmethod
    def all_of(cls, roles: Roles, columns: Sequence[str]) -> tuple[ReadingColumn, ...]:
        return tuple(cls(name, _settings(roles, name)) for name in columns)

    @property
    def resolution(self) -> float | str | None:
        if self.settings.ordinal is not None:
            return 1.0
        return NOMINAL if self.settings.nominal else self.settings.resolution

    @property
    def lacks(self) -> str:
        if self.settings.ordinal is not None:
            return "none of its values in their order"
        return "no text" if self.settings.nominal else "no number"

    def cells(self, column: pa.Array) -> ReadingCellValues:
        if self.settings.nominal:
            return _names(column)
        if self.settings.ordinal is not None:
            return _places(column, self.settings.ordinal)
        return _numbers(column)

    def messages(self, column: pa.Array) -> ReadingCellValues:
        """Read a column of messages."""
        return _names(column) if self.settings.nominal else _numbers(column)

    @property
    def decoded_limits(self) -> ReadingLimits:
        """The limits of its decoded readings."""
        return ReadingLimits(self.column, self.settings.ordinal or (), self.settings.bounds)

    def is_outside(self, values: NDArray[Any], type_: pa.DataType) -> NDArray[np.bool_]:
        """Return whether each decoded value, (n,), is impossible in a column of this type.

        Nominal values are always possible, since they decode to one another.
        """
        if self.settings.nominal:
            return np.zeros(len(values), dtype=np.bool_)
        numbers = values.astype(np.float64)
        held = ReadingLimits(self.column, bounds=_ends(type_))
        return np.asarray(self.decoded_limits.is_outside(numbers) | held.is_outside(numbers))

    def restore_type(
        self, values: NDArray[Any], blank: NDArray[np.bool_], type_: pa.DataType
    ) -> Any:
        """Return decoded values in the source's type. None of them may be outside its range."""
        if self.settings.nominal:
            return pa.array(values.astype(str), mask=blank).cast(type_)
        if self.settings.ordinal is not None:
            names = np.array(self.settings.ordinal, dtype=object)
            places = np.where(blank, 0, values).astype(np.int64)
            return pa.array(names[places], pa.string(), mask=blank).cast(type_)
        return pa.array(values.astype(np.float64), mask=blank).cast(type_)

    def decoded_type(self, type_: pa.DataType) -> pa.DataType:
        """Return the type of decoded readings: the source's type, or float64 for text numbers."""
        named = self.settings.nominal or self.settings.ordinal is not None
        if _is_text(type_):
            return pa.string() if named else pa.float64()
        return type_

    @property
    def sent_type(self) -> pa.DataType:
        return pa.string() if self.settings.nominal else pa.float64()


def has_decimal_comma(cell: pa.Scalar) -> bool:
    """Return whether a cell with a decimal comma would be a number with a decimal point.

    >>> [has_decimal_comma(pa.scalar(one)) for one in ("70,1", "70.1", "1,000.5", None, 70.1)]
    [True, False, False, False, False]
    """
    return re.match(COMMA, str(cell.as_py())) is not None


def type_named(name: str) -> pa.DataType:
    """Return the Arrow type of this name.

    >>> type_named(str(pa.decimal128(6, 2))), type_named(str(pa.float32()))
    (Decimal128Type(decimal128(6, 2)), DataType(float))
    """
    if found := re.fullmatch(r"decimal(\d+)\((\d+), (-?\d+)\)", name):
        width, *places = map(int, found.groups())
        return {128: pa.decimal128, 256: pa.decimal256}[width](*places)
    return pa.type_for_alias(name)


def _settings(roles: Roles, name: str) -> ReadingSettings:
    return _read_settings(ReadingSettings, roles, name)


Settings = TypeVar("Settings", ReadingSettings, SideSettings)


def _read_settings(kind: type[Settings], roles: Roles, name: str) -> Settings:
    try:
        return kind.model_validate(roles.settings_of(name))
    except ValidationError as error:
        raise RequestError(
            mistakes(error),
            where=f"roles, column {name}",
            instead=f"its settings are {', '.join(kind.model_fields)}",
        ) from None


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def _true(mask: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _names(column: pa.Array) -> ReadingCellValues:
    text = column.cast(pa.string())
    missing = _true(text.is_null())
    values = np.array(pc.fill_null(text, "").to_pylist(), dtype=object)
    return ReadingCellValues(values, missing, np.zeros(len(column), dtype=np.bool_))


def _places(column: pa.Array, names: tuple[str, ...]) -> ReadingCellValues:
    text = column.cast(pa.string())
    missing = _true(text.is_null())
    place = pc.index_in(text, pa.array(names, pa.string()))
    strange = _true(place.is_null()) & ~missing
    values = pc.fill_null(place, 0).to_numpy(zero_copy_only=False).astype(np.float64)
    values[missing | strange] = np.nan
    return ReadingCellValues(values, missing, strange)


def _numbers(column: pa.Array) -> ReadingCellValues:
    strange = np.zeros(len(column), dtype=np.bool_)
    if _is_text(column.type):
        text = column.cast(pa.string())
        good = pc.match_substring_regex(text, NUMBER)
        strange = ~_true(good) & ~_true(text.is_null())
        strange &= ~_true(pc.match_substring_regex(text, INFINITE))
        column = pc.if_else(good, text, None)
    elif pa.types.is_float32(column.type):
        # 70.1 as float32 is 70.0999985 as float64; its shortest text is 70.1
        column = column.cast(pa.string())
    elif not _is_number(column.type):
        everything = np.ones(len(column), dtype=np.bool_)
        return ReadingCellValues(np.full(len(column), np.nan), ~everything, everything)
    values = np.array(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    missing = ~np.isfinite(values) & ~strange
    values[missing] = np.nan
    return ReadingCellValues(values + 0.0, missing, strange)  # converts -0.0 to 0.0


def _ends(type_: pa.DataType) -> tuple[float, float]:
    """Return the smallest and largest lattice number that a column of this type can store."""
    low, high = -LARGEST, LARGEST
    if pa.types.is_integer(type_):
        held = np.iinfo(type_.to_pandas_dtype())
        low, high = float(held.min), float(held.max)
    elif pa.types.is_floating(type_):
        high = float(np.finfo(type_.to_pandas_dtype()).max)
        low = -high
    elif pa.types.is_decimal(type_):
        high = 10.0 ** (type_.precision - type_.scale) - 10.0**-type_.scale
        low = -high
    return max(low, -LARGEST), min(high, LARGEST)


def _is_number(type_: pa.DataType) -> bool:
    of = pa.types
    return bool(of.is_integer(type_) or of.is_floating(type_) or of.is_decimal(type_))
