"""Read the FHIR code, unit and decimals of each column of readings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeGuard

from voile.core.errors import RequestError, nearest
from voile.data.fhir.values import LOINC
from voile.data.files.own_files import read_toml

MOST_DECIMALS = 12

Decimals: TypeAlias = int | Literal["shortest"]


@dataclass(frozen=True)
class ReadingField:
    """The representation of a column's readings in FHIR.

    decimals : the number of decimal places, or "shortest" (70 for 70.0). None for the decimal
        places of the column's resolution. The setting applies to the whole column, because the
        format of a single value would reveal its position on the lattice.
    """

    column: str  # its name, which marks encoded values
    code: str  # of the Observation or the component, such as "29463-7"
    unit: str  # the UCUM code of the unit that the map was fitted in, such as "kg"
    system: str = LOINC  # of the code
    decimals: Decimals | None = None

    def __post_init__(self) -> None:
        if self.decimals is not None and not is_decimals(self.decimals):
            raise RequestError(
                'decimals must be a number of decimal places or "shortest"', where=self.column
            )

    def has_coding(self, coding: Mapping[str, Any]) -> bool:
        """Return whether a Coding has this field's code."""
        return (coding.get("system"), coding.get("code")) == (self.system, self.code)


def read_fields(path: str | os.PathLike[str], columns: Sequence[str]) -> tuple[ReadingField, ...]:
    """Read a TOML file with a section for each column.

    A section contains code and unit, and optionally system and decimals.
    """
    where = os.fspath(path)
    try:
        data = read_toml(Path(path))
    except (FileNotFoundError, NotADirectoryError):
        said = "the fields cannot be read (no such file)"
        raise RequestError(said, where=where) from None
    for name in data:
        if name not in columns:
            raise RequestError(
                f"the map has no column {name}", where=where, instead=nearest(name, columns)
            )
    return tuple(_field(name, data.get(name), where) for name in columns)


def _field(name: str, given: Mapping[str, Any] | None, where: str) -> ReadingField:
    known: dict[str, tuple[type, ...]] = {
        "code": (str,), "unit": (str,), "system": (str,), "decimals": (int, str),
    }  # fmt: skip
    if not isinstance(given, dict) or not {"code", "unit"} <= given.keys() <= known.keys():
        remedy = f'write [{name}], code = "LOINC CODE", unit = "UCUM UNIT"'
        raise RequestError(f"column {name} lacks its code or its unit", where=where, instead=remedy)
    if not all(isinstance(given[key], kind) for key, kind in known.items() if key in given):
        raise RequestError(
            f"the code, unit or decimals of column {name} have the wrong type", where=where
        )
    return ReadingField(name, **given)


def is_decimals(found: object) -> TypeGuard[Decimals]:
    return found == "shortest" or (isinstance(found, int) and 0 <= found <= MOST_DECIMALS)


def write_number(number: float, decimals: Decimals) -> str:
    """Format a number with the decimals of a field.

    >>> write_number(70.0, 1), write_number(70.0, "shortest"), write_number(70.25, "shortest")
    ('70.0', '70', '70.25')
    """
    if decimals == "shortest":
        return str(int(number)) if number == int(number) else repr(number)
    return f"{number:.{decimals}f}"
