"""Read the values of elements in parsed FHIR, where an element may have any JSON value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Resource: TypeAlias = Mapping[str, Any]


def take_object(found: object) -> Mapping[str, Any]:
    """Return an object as it is, and an empty one for anything else."""
    return found if isinstance(found, dict) else {}


def take_list(found: object) -> list[Any]:
    """Return a list as it is, and an empty one for anything else."""
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
    """Return the number of a Quantity.

    >>> read_number({"value": 70.5}), read_number({"value": True}), read_number(70.5)
    (70.5, None, None)
    """
    number = take_object(quantity).get("value")
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


def list_resources(resource: Resource) -> list[Resource]:
    """Return the resources of a Bundle's entries, and any other resource alone."""
    if resource.get("resourceType") != "Bundle":
        return [resource]
    entries = take_list(resource.get("entry"))
    return [take_object(take_object(entry).get("resource")) for entry in entries]
