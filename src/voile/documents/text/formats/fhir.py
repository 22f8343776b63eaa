"""Read the notes in FHIR DocumentReference resources: single resources, bundles or NDJSON.

A note is a Base64 attachment of the type text/plain or text/html. Its subject is the reference or
the identifier in the resource. All other contents of a resource or a bundle are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voile.core.errors import SourceError
from voile.data.fhir.attachments import read_contents
from voile.data.fhir.fields import Resource, list_resources, read_reference, take_object
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile, UnreadPart
from voile.documents.text.formats.json import read_objects


def is_fhir(first: Mapping[str, Any]) -> bool:
    return isinstance(first.get("resourceType"), str)


def read_fhir(file: TextFile) -> Iterator[Document | UnreadPart]:
    """Read each note of a FHIR file, and name each other part of the file."""
    number = 0
    for _, row in read_objects(file):
        for resource in list_resources(row):
            number += 1
            called = file.make_id(number)
            if resource.get("resourceType") == "DocumentReference":
                yield from _notes(file, called, resource)
            else:
                yield UnreadPart(called, "resources are not read that are not DocumentReference")


def _notes(file: TextFile, called: str, resource: Resource) -> Iterator[Document | UnreadPart]:
    contents = list(read_contents(resource))
    if not contents:
        yield UnreadPart(called, "DocumentReference resources without content")
    for number, found in enumerate(contents, 1):
        id = called if len(contents) == 1 else f"{called}, content {number}"
        if isinstance(found, SourceError):
            yield UnreadPart(id, found.what)
        else:
            whose = _subject(resource.get("subject"))
            yield file.document(found, id=id, subject=whose, annotated=False)


def _subject(subject: object) -> str | None:
    number = take_object(take_object(subject).get("identifier")).get("value")
    return read_reference(subject) or (number if isinstance(number, str) and number else None)
