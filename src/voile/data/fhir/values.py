"""Keep the parts of a value that no name and no free text can be in; None for the rest."""

from __future__ import annotations

from typing import Any

from voile.data.fhir.code_systems import CODES, UCUM, UNIT, WORDS
from voile.data.fhir.fields import list_codings, read_number, take_object

LARGEST = 1e9
"""The largest reading: a larger number is not a measurement."""


def keep_code(value: Any) -> str | None:
    """Keep a word of a value set that FHIR fixes: "final", "order"."""
    return value if isinstance(value, str) and value in WORDS else None


def keep_boolean(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def keep_coding(value: Any) -> dict[str, str] | None:
    """Keep system and code of a coding whose system is known, and whose code is of its form.

    >>> keep_coding({"system": "http://loinc.org", "code": "8480-6", "display": "of Anna"})
    {'system': 'http://loinc.org', 'code': '8480-6'}
    >>> print(keep_coding({"system": "http://loinc.org", "code": "Anna"}))
    None
    """
    system, found = take_object(value).get("system"), take_object(value).get("code")
    if not isinstance(system, str) or not isinstance(found, str):
        return None
    form = CODES.get(system)
    return {"system": system, "code": found} if form and form.fullmatch(found) else None


def keep_concept(value: Any) -> dict[str, Any] | None:
    """Keep the known codings of a concept; without one, nothing."""
    kept = [one for one in map(keep_coding, list_codings(value)) if one]
    return {"coding": kept} if kept else None


def keep_quantity(value: Any) -> dict[str, Any] | None:
    """Keep a number and its UCUM unit.

    >>> keep_quantity({"value": 70, "unit": "kg of Anna", "system": UCUM, "code": "kg"})
    {'value': 70, 'unit': 'kg', 'system': 'http://unitsofmeasure.org', 'code': 'kg'}
    """
    number = read_number(value)
    if number is None or abs(number) > LARGEST:
        return None
    unit = value.get("code")
    if value.get("system") != UCUM or not isinstance(unit, str) or not UNIT.fullmatch(unit):
        return {"value": number}
    return {"value": number, "unit": unit, "system": UCUM, "code": unit}
