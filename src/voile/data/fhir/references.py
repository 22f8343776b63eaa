"""Read the ids of resources and the references between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.core.errors import SourceError
from voile.data.fhir.fields import Resource, take_list, take_object

_ID = r"[A-Za-z0-9.-]{1,64}"
_REFERENCE = re.compile(rf"(?:https?://[^\s?#]*/)?([A-Za-z]+)/({_ID})(?:/_history/[^/]+)?")
_URN = re.compile(rf"urn:uuid:({_ID})")


def read_id(resource: Resource, place: str) -> str:
    """Return a resource's id.

    Raises
    ------
    SourceError : it has none, or one that FHIR does not allow.
    """
    found = resource.get("id")
    if not isinstance(found, str) or not re.fullmatch(_ID, found):
        raise SourceError("has no valid id", where=place)
    return found


def read_reference(found: object) -> str | None:
    """Return the text of a Reference; None for an empty one and for anything else."""
    text = take_object(found).get("reference")
    return text if isinstance(text, str) and text else None


def find_target(reference: object, kind: str) -> str | None:
    """Return the id that a Reference has for a resource of a type.

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
