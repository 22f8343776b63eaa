"""Read the texts of attachments, and write a text as an attachment."""

from __future__ import annotations

import binascii
import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from voile.core.errors import SourceError
from voile.data.content_kinds import name_content_kind
from voile.data.fhir.fields import Resource, take_list, take_object
from voile.data.html_text import extract_html_text
from voile.data.text import known_encoding

PLAIN, HTML = "text/plain", "text/html"
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


def read_contents(document: Resource) -> Iterator[str | SourceError]:
    """Yield the text of each content of a DocumentReference, or the error if it cannot be read."""
    for content in take_list(document.get("content")):
        try:
            yield read_attachment(take_object(take_object(content).get("attachment")))
        except SourceError as error:
            yield error


def read_attachment(attachment: Mapping[str, Any]) -> str:
    """Return the text of an Attachment of text/plain or text/html.

    Raises
    ------
    SourceError : the attachment has another type or no inline data, or is not Base64 of text.
    """
    content = str(attachment.get("contentType") or "")
    kind = content.partition(";")[0].strip().lower()
    if kind not in (PLAIN, HTML):
        raise SourceError(
            f"voile does not read attachments of this type: {name_content_kind(kind)}"
        )
    data = attachment.get("data")
    if not isinstance(data, str):
        raise SourceError("voile does not read attachments that are stored outside the resource")
    charset = _CHARSET.search(content)
    try:
        raw = b64decode("".join(data.split()), validate=True)
        text = raw.decode(known_encoding(charset[1]) if charset else "utf-8-sig")
    except (binascii.Error, ValueError):
        raise SourceError("an attachment is not complete Base64 text") from None
    return extract_html_text(text) if kind == HTML else text


def make_attachment(text: str) -> dict[str, Any]:
    """Return an Attachment that contains a text, with its size and hash."""
    data = text.encode()
    sha1 = hashlib.sha1(data, usedforsecurity=False).digest()  # required by FHIR
    return {
        "contentType": f"{PLAIN}; charset=utf-8",
        "data": b64encode(data).decode(),
        "size": len(data),
        "hash": b64encode(sha1).decode(),
    }
