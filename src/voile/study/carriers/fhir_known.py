"""What a FHIR export says of its people beside their readings, to be looked for in its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from voile.data.fhir.fields import Resource, list_objects, take_list
from voile.study.carriers.carrier import Known, Names

STAFF = ("Practitioner", "Organization", "Location", "RelatedPerson")
"""Types of which only names are read: no resource of them is released."""
_PHONES = ("phone", "fax", "pager", "sms")


def known_of(patient: Resource) -> Iterator[Known]:
    """Yield rows of a patient's names, day of birth, telephones, addresses and numbers.

    The words of one name stand in one row; a patient has as many rows as any of them has values.
    """
    contacts = list_objects(patient.get("contact"))
    people = [patient, *contacts]
    names = [row for one in people for row in _names(one.get("name"))]
    telecom = [x for one in people for x in list_objects(one.get("telecom"))]
    values = {
        "birth_date": [patient.get("birthDate")],
        "phone": [x.get("value") for x in telecom if x.get("system") in _PHONES],
        "email": [x.get("value") for x in telecom if x.get("system") == "email"],
        "record_number": [x.get("value") for x in list_objects(patient.get("identifier"))],
        **_addresses([x for one in people for x in list_objects(one.get("address"))]),
    }
    for name, *own in zip_longest(names, *values.values()):
        row = {**(name or {}), **dict(zip(values, own, strict=True))}
        if kept := {column: x for column, x in row.items() if isinstance(x, str) and x.strip()}:
            yield kept


def staff_of(one: Resource) -> Iterator[Known]:
    """Yield the names of a person or an institution of the staff."""
    if isinstance(name := one.get("name"), str):
        yield {"institution": name}
    else:
        yield from _names(name)


def name_of(names: object) -> Names:
    """Return the first name that has a family name or given names."""
    rows = (row for row in _names(names) if "family_name" in row)
    return next(((row["given_name"], row["family_name"]) for row in rows), (None, None))


def _given(name: Mapping[str, Any]) -> str | None:
    return " ".join(x for x in take_list(name.get("given")) if isinstance(x, str)) or None


def _names(names: object) -> Iterator[dict[str, Any]]:
    for one in list_objects(names):
        given, family = _given(one), one.get("family")
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
