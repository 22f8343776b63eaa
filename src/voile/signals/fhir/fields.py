"""Which code and unit the readings of each column have in FHIR."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from voile.core.errors import RequestError, nearest
from voile.data.files.own_files import read_toml

LOINC = "http://loinc.org"
UCUM = "http://unitsofmeasure.org"
MOST = 12  # decimal places

Decimals: TypeAlias = int | Literal["shortest"]


@dataclass(frozen=True)
class Field:
    """What a column's readings are in FHIR.

    decimals : how values are written: so many places, or "shortest" (70 for 70.0). None: as many
        places as the column's resolution has. It is declared, not found value by value: how one
        value is written would reveal where it lies on its lattice
    """

    column: str  # its name, which marks encoded values
    code: str  # of the Observation or the component, such as "29463-7"
    unit: str  # the UCUM code of the unit that the map was fitted in, such as "kg"
    system: str = LOINC  # of the code
    decimals: Decimals | None = None

    def __post_init__(self) -> None:
        fits = self.decimals in (None, "shortest") or (
            isinstance(self.decimals, int) and 0 <= self.decimals <= MOST
        )
        if not fits:
            raise RequestError(
                "decimals are neither a number of places nor shortest", where=self.column
            )

    def is_meant_by(self, coding: object) -> bool:
        """Say whether a FHIR Coding names this field."""
        return isinstance(coding, dict) and (coding.get("system"), coding.get("code")) == (
            self.system,
            self.code,
        )


def read_fields(path: str | os.PathLike[str], columns: Sequence[str]) -> tuple[Field, ...]:
    """Read a TOML file with a section for each column: code, unit, maybe system and decimals."""
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


def _field(name: str, given: Mapping[str, Any] | None, where: str) -> Field:
    known: dict[str, tuple[type, ...]] = {
        "code": (str,), "unit": (str,), "system": (str,), "decimals": (int, str),
    }  # fmt: skip
    if not isinstance(given, dict) or not {"code", "unit"} <= given.keys() <= known.keys():
        remedy = f'write [{name}], code = "LOINC CODE", unit = "UCUM UNIT"'
        raise RequestError(f"column {name} has no code and unit", where=where, instead=remedy)
    if not all(isinstance(given[key], kind) for key, kind in known.items() if key in given):
        raise RequestError(
            f"column {name} has a code, unit or decimals of a wrong type", where=where
        )
    return Field(name, **given)
