"""voile's own JSON lines: text, spans of start, end and label, id or doc_id, subject."""

from __future__ import annotations

from collections.abc import Iterator

from voile.documents.text.document import Document
from voile.documents.text.formats.file import File
from voile.documents.text.formats.json_objects import annotated
from voile.documents.text.formats.quotes import looked


def read(file: File) -> Iterator[Document]:
    """Read documents; fields of other names are left."""
    return annotated(file, "text", lambda row, where: looked(row.get("spans"), where))
