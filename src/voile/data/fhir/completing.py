"""Make a released resource valid R4, with required elements and references that resolve.

A required element that is not released gets a mask mark. R4 allows the mark for references,
attachments and all primitive values except codes. A concept may have the mark too, unless its rule
requires the concept. A part that contains only marks is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from voile.data.fhir.definitions import TypeElement, read_elements
from voile.data.fhir.fields import list_objects

ABSENT = "http://hl7.org/fhir/StructureDefinition/data-absent-reason"
MASKED = {"extension": [{"url": ABSENT, "valueCode": "masked"}]}
_CONCEPTS = ("CodeableConcept", "Coding")


class IncompleteError(Exception):
    """A resource lacks an element that R4 requires and that no mark can replace."""


def complete(
    kind: str,
    resource: Mapping[str, Any],
    resolves: Callable[[str], bool],
    needed: Collection[str] = (),
) -> dict[str, Any]:
    """Return a resource with its required elements, and without references that do not resolve.

    resolves : returns whether a reference of the resource points to a released resource.
    needed : concepts that must not be masked.

    Raises
    ------
    IncompleteError : a required code, concept or part is missing. Its text is the element's name.
    """
    masked = dict(resource)
    for [one, *others] in _list_required(kind):
        is_concept = one.type in _CONCEPTS and not others and one.name not in needed
        if is_concept and one.name not in resource:
            masked[one.name] = [MASKED] if one.is_list else MASKED
    found = _complete_part(kind, masked, resolves)
    if isinstance(found, str):
        raise IncompleteError(found)
    return found


def _complete_part(
    parent: str, part: Mapping[str, Any], resolves: Callable[[str], bool]
) -> dict[str, Any] | str:
    """Return a part with its required elements, or the name of one that is missing."""
    elements = read_elements()[parent]
    found: dict[str, Any] = {}
    for name, value in part.items():
        element = elements.get(name)
        kept = value if element is None else _complete_value(element, value, resolves)
        if kept is not None:
            found[name] = kept
    for ways in _list_required(parent):
        has_one = any(name in found for one in ways for name in (one.name, f"_{one.name}"))
        if not has_one and not _mask(found, ways, resolves):
            return ways[0].choice or ways[0].name
    return found


@cache
def _list_required(parent: str) -> list[list[TypeElement]]:
    """Return the required elements of a type. The alternatives of a choice are in one list."""
    ways: dict[str, list[TypeElement]] = {}
    for one in read_elements()[parent].values():
        if one.is_required:
            ways.setdefault(one.choice or one.name, []).append(one)
    return list(ways.values())


def _complete_value(element: TypeElement, value: Any, resolves: Callable[[str], bool]) -> Any:
    if element.is_list:
        several = [_complete_one(element, one, resolves) for one in value]
        return [one for one in several if one is not None] or None
    return _complete_one(element, value, resolves)


def _complete_one(element: TypeElement, value: Any, resolves: Callable[[str], bool]) -> Any:
    if element.type == "Reference":
        return value if resolves(str(value.get("reference"))) else None
    if not element.is_part:
        return value
    found = _complete_part(element.parent, value, resolves)
    return None if isinstance(found, str) or not _says_something(found) else found


def _says_something(part: Mapping[str, Any]) -> bool:
    """Return whether a part has an element that is not masked."""
    values = [one for value in part.values() for one in (list_objects(value) or [value])]
    return any(one != MASKED for one in values)


def _mask(found: dict[str, Any], ways: list[TypeElement], resolves: Callable[[str], bool]) -> bool:
    """Mask the first alternative of a required element, and return whether that is possible.

    A choice that includes codes or concepts cannot be masked.
    """
    if any(one.type in ("code", *_CONCEPTS) for one in ways):
        return False
    one = ways[0]
    if one.is_part:
        inner = _complete_part(one.parent, {}, resolves)
        if isinstance(inner, str):
            return False
        found[one.name] = [inner] if one.is_list else inner
    elif one.type in ("Reference", "Attachment"):
        found[one.name] = [MASKED] if one.is_list else MASKED
    elif one.is_primitive and not one.is_list:
        found[f"_{one.name}"] = MASKED
    else:
        return False
    return True
