"""Read names and numbers of people in a FHIR export, and facts that acquaintances may know.

The kit of notes searches the notes for these names and numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from voile.data.fhir.fields import Resource, list_objects, take_list
from voile.study.carriers import carrier

STAFF = ("Practitioner", "Organization", "Location", "RelatedPerson")
"""Types from which only names are read. Their resources are not released."""
_PHONES = ("phone", "fax", "pager", "sms")


def known_of(patient: Resource) -> Iterator[carrier.Known]:
    """Yield rows of a patient's names, day of birth, telephones, addresses and numbers.

    The words of one name are in one row. A patient has as many rows as the longest list of values.
    """
    contacts = list_objects(patient.get("contact"))
    extensions = list_objects(patient.get("extension"))  # such as a mother's name or birth place
    people = [patient, *contacts]
    names = [row for one in people for row in _names(one.get("name"))]
    names += [{"full_name": one.get("valueString")} for one in extensions]
    telecom = [x for one in people for x in list_objects(one.get("telecom"))]
    values = {
        "birth_date": [patient.get("birthDate")],
        "phone": [x.get("value") for x in telecom if x.get("system") in _PHONES],
        "email": [x.get("value") for x in telecom if x.get("system") == "email"],
        "record_number": [x.get("value") for x in list_objects(patient.get("identifier"))],
        **_addresses(
            [x for one in people for x in list_objects(one.get("address"))]
            + [x for one in extensions for x in list_objects(one.get("valueAddress"))]
        ),
    }
    for name, *own in zip_longest(names, *values.values()):
        row = {**(name or {}), **dict(zip(values, own, strict=True))}
        if kept := {column: x for column, x in row.items() if isinstance(x, str) and x.strip()}:
            yield kept


def staff_of(one: Resource) -> Iterator[carrier.Known]:
    """Yield the names of a staff member or an institution."""
    if isinstance(name := one.get("name"), str):
        yield {"institution": name}
    else:
        yield from _names(name)


def name_of(names: object) -> carrier.Names:
    """Return the first name with a family name or given names."""
    rows = (row for row in _names(names) if "family_name" in row)
    return next(((row["given_name"], row["family_name"]) for row in rows), (None, None))


def _join_given(name: Mapping[str, Any]) -> str | None:
    return " ".join(x for x in take_list(name.get("given")) if isinstance(x, str)) or None


def _names(names: object) -> Iterator[dict[str, Any]]:
    for one in list_objects(names):
        given, family = _join_given(one), one.get("family")
        family = family if isinstance(family, str) else None
        if given or family is not None:
            yield {"given_name": given, "family_name": family}
        elif isinstance(one.get("text"), str):
            yield {"full_name": one["text"]}


def _addresses(found: list[Mapping[str, Any]]) -> dict[str, list[Any]]:
    lines = [x for one in found for x in take_list(one.get("line")) or [one.get("line")]]
    return {
        "street": [*lines, *(one.get("text") for one in found)],
        "city": [one.get("city") for one in found],
        "zip_code": [one.get("postalCode") for one in found],
    }


Fact = tuple[Any, ...]
_NAMES = {
    "Condition": carrier.DIAGNOSES,
    "MedicationRequest": carrier.PRESCRIPTIONS,
    "Encounter": carrier.VISITS,
}
_NO_FACTS = frozenset(
    ["resourceType", "id", "meta", "extension", "reference", "attachment", "presentedForm"]
)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(T.*)?")


def events_of(kind: str, one: Resource) -> Iterator[tuple[str, Fact | None]]:
    """Yield the facts of a resource with their kinds, at least one, for the resource's days."""
    if kind == "Observation":
        whole = {name: x for name, x in one.items() if name != "component"}
        for each in (whole, *list_objects(take_list(one.get("component")))):
            yield carrier.READINGS, _fact_of(each)
    elif kind == "Patient":
        died = one.get("deceasedDateTime") is not None or one.get("deceasedBoolean") is True
        yield carrier.DEATHS, ("died",) if died else None
    else:
        yield _NAMES.get(kind, kind), _fact_of(one)


def _fact_of(one: Resource) -> Fact | None:
    return tuple(sorted(_list_facts(one, ""), key=repr)) or None


def _list_facts(found: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each value of a resource with its path, except ids, references and days."""
    if isinstance(found, list):
        for each in found:
            yield from _list_facts(each, path)
    elif not isinstance(found, dict):
        if not (isinstance(found, str) and _DAY.fullmatch(found)):
            yield path, found
    elif "system" in found and "code" in found and "value" not in found:
        yield path, (found["system"], found["code"])
    else:
        for name, inner in found.items():
            if name not in _NO_FACTS and not name.startswith("_"):
                yield from _list_facts(inner, f"{path}.{name}")
