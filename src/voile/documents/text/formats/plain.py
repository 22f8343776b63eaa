"""Plain text: a file is a document, without spans."""

from __future__ import annotations

from collections.abc import Iterator

from voile.documents.text.document import Document
from voile.documents.text.formats.file import File


def read(file: File) -> Iterator[Document]:
    """Read one document, as it is."""
    yield file.document(file.text(), id=file.name, annotated=False)
