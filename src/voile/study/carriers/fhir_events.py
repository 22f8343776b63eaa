"""What a FHIR resource says of its person that an acquaintance may know: codes, readings, death."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voile.data.fhir.fields import Resource, list_objects, read_number, take_list
from voile.study.carriers.carrier import DEATHS, DIAGNOSES, PRESCRIPTIONS, READINGS, VISITS

Fact = tuple[Any, ...]
_CODED = {
    "Condition": (DIAGNOSES, ("code",)),
    "MedicationRequest": (PRESCRIPTIONS, ("medicationCodeableConcept",)),
    "Encounter": (VISITS, ("class", "type", "serviceType")),
}
_VALUES = ("valueQuantity", "valueCodeableConcept", "valueBoolean")


def events_of(kind: str, one: Resource) -> Iterator[tuple[str, Fact | None]]:
    """Yield what a resource says, and of what kind it is; at least once, for its days."""
    if kind in _CODED:
        name, fields = _CODED[kind]
        said = tuple(_codes(one.get(field)) for field in fields)
        yield name, said if any(said) else None
    elif kind == "Observation":
        for each in (one, *list_objects(take_list(one.get("component")))):
            yield READINGS, _reading(each)
    elif kind == "Patient":
        died = one.get("deceasedDateTime") is not None or one.get("deceasedBoolean") is True
        yield DEATHS, ("died",) if died else None
    else:
        yield kind, None


def _reading(one: Resource) -> Fact | None:
    """Return what was measured, its value and unit; None where there is no value."""
    code, said = _codes(one.get("code")), tuple(_value(one.get(name)) for name in _VALUES)
    return (code, *said) if any(x is not None for x in said) else None


def _value(found: Any) -> Any:
    if not isinstance(found, dict):
        return found if isinstance(found, bool) else None
    if "coding" in found:
        return _codes(found) or None
    number = read_number(found)
    return None if number is None else (number, found.get("code"))


def _codes(found: Any) -> tuple[tuple[str, str], ...]:
    """Return the codes of a concept, of several, or of one coding, in order."""
    if isinstance(found, list):
        return tuple(sorted({code for each in found for code in _codes(each)}))
    if not isinstance(found, dict):
        return ()
    inner = found.get("coding")
    if inner is None:
        return ((str(found.get("system")), str(found["code"])),) if "code" in found else ()
    return _codes(inner)
