"""Read the resources in the folder of an export.

The files are `.ndjson` and `.json`, also as `.gz`. Resources may be in Bundles. The files are read
in a fixed order. The resources of a Bundle keep the order of its entries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from voile.core.errors import SourceError
from voile.data.fhir.definitions import list_types
from voile.data.fhir.fields import Resource, take_list, take_object
from voile.data.fhir.lines import UnreadableFileError, read_objects
from voile.data.fhir.versions import refuse_other_versions

SUFFIXES = (".ndjson", ".json", ".ndjson.gz", ".json.gz")
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH")
NO_METHOD = "no method"
_KIND = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}")


class FoundResource(NamedTuple):
    """A resource of an export. `full_url` is the URL of its Bundle entry, if it has one."""

    place: str
    kind: str
    resource: Resource
    full_url: str | None


def is_export_file(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES) and path.is_file()


def list_files(folder: Path) -> list[Path]:
    """Return the files of an export sorted by name, with files of patients first."""
    found = (path for path in folder.iterdir() if is_export_file(path))
    return sorted(found, key=lambda path: (_named_kind(path) != "Patient", path.name))


def is_fhir_folder(folder: Path) -> bool:
    """Return whether a file of the folder begins with a FHIR resource.

    Raises
    ------
    SourceError : no file begins with a resource, and at least one file cannot be read.
    """
    broken = None
    for path in list_files(folder):
        try:
            first = next(read_objects(path), None)
        except UnreadableFileError as error:
            broken, first = error, None
        except SourceError:
            first = None
            if _named_kind(path) is not None:
                return True
        if first is not None and _find_kind(first[1]) is not None:
            return True
    if broken is not None:
        raise broken
    return False


def read_export(folder: Path) -> Iterator[FoundResource]:
    """Yield every resource of a folder. Files without resources, such as logs, are skipped.

    Raises
    ------
    SourceError : a file is not JSON, or a resource has another FHIR version or another type than
        its file.
    """
    for path in list_files(folder):
        yield from read_file(path)


def read_file(path: Path) -> Iterator[FoundResource]:
    """Yield every resource of a file."""
    named, has_resources = _named_kind(path), False
    for place, found in read_objects(path):
        kind = _find_kind(found)
        if kind is None and not has_resources and named is None:
            return
        if kind is None:
            raise SourceError("the line is not a FHIR resource", where=place)
        has_resources = True
        if kind != "Bundle" and named not in (None, kind, "Bundle"):
            raise SourceError(f"the resource is not of type {named}", where=place)
        yield from _unbundle(found, kind, None, place)


def count_other_files(folder: Path) -> Mapping[str, int]:
    """Return the files of a folder that are not read, with their numbers of lines or objects."""
    counts: Counter[str] = Counter()
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        if not is_export_file(path):
            counts[path.name] = 0
        elif next(read_file(path), None) is None:
            counts[path.name] = sum(1 for _ in read_objects(path))
    return counts


def count_empty_entries(folder: Path) -> Mapping[str, int]:
    """Count the Bundle entries without a resource, such as deletions, by HTTP method."""
    counts: Counter[str] = Counter()
    for path in list_files(folder):
        if _named_kind(path) in (None, "Bundle"):
            for _, found in read_objects(path):
                if _is_bundle(found):
                    counts.update(_list_empty_entries(found))
    return counts


def _list_empty_entries(found: Resource) -> Iterator[str]:
    """Yield the method of each entry without a resource, including those of nested Bundles."""
    for entry in map(take_object, take_list(found.get("entry"))):
        if (inner := entry.get("resource")) is not None:
            yield from _list_empty_entries(take_object(inner)) if _is_bundle(inner) else ()
            continue
        method = take_object(entry.get("request")).get("method")
        yield str(method) if method in METHODS else NO_METHOD


def _is_bundle(found: Any) -> bool:
    return take_object(found).get("resourceType") == "Bundle"


def _unbundle(found: Resource, kind: str, url: str | None, place: str) -> Iterator[FoundResource]:
    refuse_other_versions(found, place)
    if kind != "Bundle":
        yield FoundResource(place, kind, _with_id(found, url), url)
        return
    for number, entry in enumerate(take_list(found.get("entry")), 1):
        inner = take_object(entry).get("resource")
        if inner is None:
            continue
        where = f"{place}, entry {number:,}"
        kind = _find_kind(take_object(inner)) or ""
        if not kind:
            raise SourceError("the file does not begin with a FHIR resource", where=where)
        full_url = take_object(entry).get("fullUrl")
        yield from _unbundle(inner, kind, full_url if isinstance(full_url, str) else None, where)


def _with_id(found: Resource, url: str | None) -> Resource:
    """Give a resource without an id the id of its entry, as a server does in a transaction."""
    if "id" in found or url is None or not url.startswith("urn:uuid:"):
        return found
    return {**found, "id": url.removeprefix("urn:uuid:")}


def _find_kind(found: Mapping[str, Any]) -> str | None:
    kind = found.get("resourceType")
    return kind if isinstance(kind, str) and _KIND.fullmatch(kind) else None


def _named_kind(path: Path) -> str | None:
    """Return the type in the name of a file of lines: `Patient.ndjson`, `Patient.000.ndjson`."""
    word = re.split(r"[.\-_]", path.name)[0]
    is_lines = path.name.lower().removesuffix(".gz").endswith(".ndjson")
    return word if is_lines and word in list_types() else None
