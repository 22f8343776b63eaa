"""Read the values of elements in parsed FHIR: numbers, dates, ids and references.

An element may have any JSON value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from voile.core.errors import RequestError, SourceError

Resource: TypeAlias = Mapping[str, Any]


def take_object(found: object) -> Mapping[str, Any]:
    """Return `found` if it is a JSON object, otherwise an empty object."""
    return found if isinstance(found, dict) else {}


def take_list(found: object) -> list[Any]:
    """Return `found` if it is a list, otherwise an empty list."""
    return found if isinstance(found, list) else []


def list_objects(found: object) -> list[Mapping[str, Any]]:
    """Return the objects of a list, or a single object as a list of one.

    >>> list_objects([{"a": 1}, 7]), list_objects({"a": 1}), list_objects("x")
    ([{'a': 1}], [{'a': 1}], [])
    """
    several = found if isinstance(found, list) else [found]
    return [one for one in several if isinstance(one, dict)]


def list_codings(concept: object) -> list[Mapping[str, Any]]:
    """Return the codings of a CodeableConcept."""
    return list_objects(take_list(take_object(concept).get("coding")))


def read_number(quantity: object) -> int | float | None:
    """Return the number of a Quantity, or None.

    >>> read_number({"value": 70.5}), read_number({"value": True}), read_number(70.5)
    (70.5, None, None)
    """
    number = take_object(quantity).get("value")
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


def list_resources(resource: Resource) -> list[Resource]:
    """Return the resources of a Bundle's entries, or any other resource in a list of one."""
    if resource.get("resourceType") != "Bundle":
        return [resource]
    entries = take_list(resource.get("entry"))
    return [take_object(take_object(entry).get("resource")) for entry in entries]


DateParts: TypeAlias = tuple[int, int | None, int | None]
"""A year, a month and a day. The month and the day are None if the text lacks them."""
_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")


def read_parts(raw: object) -> DateParts | None:
    """Return the numbers of a FHIR date without checking their ranges, or None if it is not one.

    >>> read_parts("1966-07"), read_parts("1966-07-01"), read_parts("July 1966")
    ((1966, 7, None), (1966, 7, 1), None)
    """
    found = _DATE.fullmatch(raw) if isinstance(raw, str) else None
    if found is None:
        return None
    year, month, day = (int(one) if one else None for one in found.groups())
    return year or 0, month, day


def read_day(raw: object) -> date | None:
    """Return the day of a complete date or time, or None for any other value, such as a month.

    >>> read_day("2013-05-14T08:15:00Z"), read_day("2013-05")
    (datetime.date(2013, 5, 14), None)
    """
    parts = read_parts(raw.partition("T")[0]) if isinstance(raw, str) else None
    try:
        return date(parts[0], parts[1] or 0, parts[2] or 0) if parts else None
    except ValueError:
        return None


def read_period(raw: object) -> dict[str, date]:
    """Return the days of a Period as "start" and "end".

    >>> read_period({"start": "2013-05-14", "end": "2013-06"})
    {'start': datetime.date(2013, 5, 14)}
    """
    ends = {name: read_day(take_object(raw).get(name)) for name in ("start", "end")}
    return {name: day for name, day in ends.items() if day}


def read_moment(time: str, place: str) -> float:
    """Return a FHIR dateTime in seconds since 1970. A time without a zone is UTC.

    >>> read_moment("2024-03", "") == read_moment("2024-03-01T00:00:00Z", "")
    True
    """
    padded = time + {4: "-01-01", 7: "-01"}.get(len(time), "")
    try:
        at = datetime.fromisoformat(padded)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise RequestError("the time is not a FHIR dateTime", where=place) from None


_ID = r"[A-Za-z0-9.-]{1,64}"
_REFERENCE = re.compile(rf"(?:https?://[^\s?#]*/)?([A-Za-z]+)/({_ID})(?:/_history/[^/]+)?")
_URN = re.compile(rf"urn:uuid:({_ID})")


def read_id(resource: Resource, place: str) -> str:
    """Return the id of a resource.

    Raises
    ------
    SourceError : the id is missing or is not valid in FHIR.
    """
    found = resource.get("id")
    if not isinstance(found, str) or not re.fullmatch(_ID, found):
        raise SourceError("the resource has no valid id", where=place)
    return found


def read_reference(found: object) -> str | None:
    """Return the text of a Reference, or None if it is empty or not a Reference."""
    text = take_object(found).get("reference")
    return text if isinstance(text, str) and text else None


def find_target(reference: object, kind: str) -> str | None:
    """Return the id of a resource of the given type to which a Reference points, or None.

    >>> find_target({"reference": "Patient/17"}, "Patient")
    '17'
    >>> print(find_target({"reference": "Patient/17"}, "Encounter"))
    None
    """
    text = read_reference(reference) or ""
    if bare := _URN.fullmatch(text):
        return bare[1]
    found = _REFERENCE.fullmatch(text)
    return found[2] if found and found[1] == kind else None


def find_references(found: object) -> Iterator[str]:
    """Yield every reference of a resource."""
    if isinstance(one := take_object(found).get("reference"), str):
        yield one
    for inner in (*take_object(found).values(), *take_list(found)):
        yield from find_references(inner)
