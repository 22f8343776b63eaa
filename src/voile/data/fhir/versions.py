"""Reject resources of other FHIR versions than R4, with the name of the version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from voile.core.errors import SourceError
from voile.data.fhir.definitions import read_lines
from voile.data.fhir.fields import Resource, take_list, take_object

_NAMES = {"1.0": "DSTU2", "3.0": "STU3", "5.0": "R5", "6.0": "R6"}
_PROFILE = re.compile(r"\|(\d\.\d)\.\d$|^https?://hl7\.org/fhir/(\d\.\d|R5|STU3|DSTU2)/")
_LISTS = {"Encounter": ("class",), "DocumentReference": ("context",)}
"""Elements that are lists in R5 but not in R4."""


def refuse_other_versions(resource: Resource, place: str) -> None:
    """Raise an error for a resource with a type, element or version of another FHIR version.

    Raises
    ------
    SourceError : the resource is of another version. The message contains its name.
    """
    version = _find_version(resource)
    if version is not None:
        raise SourceError(
            f"the export is FHIR {version}, and voile reads only R4",
            where=place,
            instead="export the data as R4",
        )


def _find_version(resource: Resource) -> str | None:
    kind = str(resource.get("resourceType"))
    types, elements = _read_versions()
    if kind in types:
        return types[kind]
    known = elements.get(kind, {})
    if others := [version for name, version in known.items() if name in resource]:
        return min(others)
    if any(isinstance(resource.get(name), list) for name in _LISTS.get(kind, ())):
        return "R5"
    profiles = take_list(take_object(resource.get("meta")).get("profile"))
    stated = [found[1] or found[2] for one in profiles if (found := _PROFILE.search(str(one)))]
    names = (_NAMES.get(one, one) for one in (str(resource.get("fhirVersion"))[:3], *stated))
    return next((one for one in names if one in _NAMES.values()), None)


@cache
def _read_versions() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return the version of each type, and of each element by type, that R4 lacks."""
    types: dict[str, str] = {}
    elements: dict[str, dict[str, Any]] = {}
    for line in read_lines("versions.txt"):
        version, *names = line.split(" ")
        if names and names[0].endswith(":"):
            elements.setdefault(names[0][:-1], {}).update(dict.fromkeys(names[1:], version))
        else:
            types.update(dict.fromkeys(names, version))
    return types, elements
