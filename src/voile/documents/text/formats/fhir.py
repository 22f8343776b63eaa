"""FHIR: the notes inside DocumentReference resources, alone, in bundles or a line each.

A note is an attachment of text/plain or text/html in Base64; its subject is the reference or the
identifier that the resource has. Everything else of a resource or a bundle is not read.
"""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from voile.core.errors import SourceError
from voile.data.text import known_encoding
from voile.documents.text.document import Document
from voile.documents.text.formats.file import File, Unread
from voile.documents.text.formats.html import html_text
from voile.documents.text.formats.json import read_objects
from voile.documents.text.formats.kinds import content_kind

PLAIN, HTML = "text/plain", "text/html"
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


def is_fhir(first: Mapping[str, Any]) -> bool:
    return isinstance(first.get("resourceType"), str)


def read_fhir(file: File) -> Iterator[Document | Unread]:
    """Read each note of a file of FHIR, and name each part of it that is none."""
    number = 0
    for _, row in read_objects(file):
        for resource in _resources(row):
            number += 1
            called = file.called(number)
            if resource.get("resourceType") == "DocumentReference":
                yield from _notes(file, called, resource)
            else:
                yield Unread(called, "resources are not read that are not DocumentReference")


def _resources(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a resource, or those of a bundle; a bundle in a bundle is a resource to it."""
    if row.get("resourceType") != "Bundle":
        yield row
        return
    for entry in _objects(row.get("entry")):
        yield _object(entry.get("resource"))


def _notes(file: File, called: str, resource: Mapping[str, Any]) -> Iterator[Document | Unread]:
    contents = _objects(resource.get("content"))
    if not contents:
        yield Unread(called, "DocumentReference resources without content")
    for number, content in enumerate(contents, 1):
        id = called if len(contents) == 1 else f"{called}, content {number}"
        try:
            text = attachment_text(_object(content.get("attachment")))
        except SourceError as error:
            yield Unread(id, error.what)
        else:
            whose = _subject(_object(resource.get("subject")))
            yield file.document(text, id=id, subject=whose, annotated=False)


def attachment_text(attachment: Mapping[str, Any]) -> str:
    content = str(attachment.get("contentType") or "")
    kind = content.partition(";")[0].strip().lower()
    if kind not in (PLAIN, HTML):
        raise SourceError(f"attachments are not read: {content_kind(kind)}")
    data = attachment.get("data")
    if not isinstance(data, str):
        raise SourceError("attachments that are elsewhere are not read")
    said = _CHARSET.search(content)
    try:
        raw = b64decode("".join(data.split()), validate=True)
        text = raw.decode(known_encoding(said[1]) if said else "utf-8-sig")
    except (binascii.Error, ValueError):
        raise SourceError("attachments that are not whole Base64 of text") from None
    return html_text(text) if kind == HTML else text


def _subject(subject: Mapping[str, Any]) -> str | None:
    found = subject.get("reference") or _object(subject.get("identifier")).get("value")
    return found if isinstance(found, str) and found else None


def _objects(found: object) -> list[Mapping[str, Any]]:
    return [_object(one) for one in found] if isinstance(found, list) else []


def _object(found: object) -> Mapping[str, Any]:
    return found if isinstance(found, dict) else {}
