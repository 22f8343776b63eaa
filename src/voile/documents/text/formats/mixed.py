"""A folder of files of several formats, each by its own reader."""

from __future__ import annotations

from collections.abc import Iterator

from voile.core.errors import SourceError
from voile.documents.text.document import Document
from voile.documents.text.formats.brat import find_beside
from voile.documents.text.formats.file import File, Unread, suffix
from voile.documents.text.formats.kinds import file_kind
from voile.documents.text.formats.recognition import format_of
from voile.documents.text.formats.registry import SINGLE_FORMATS


def read_each(file: File) -> Iterator[Document | Unread]:
    """Read a file by its own format; refuse one that holds no documents, by its kind alone."""
    if suffix(file.path) == ".ann" and find_beside(file.path, ".txt") is not None:
        return  # read with its text
    format = format_of(file.path, file.encoding)
    if format is None or format == "table":
        what = "tables are not documents" if format else "not read"
        raise SourceError(f"{file_kind(file.path)}: {what}", where=file.path.name)
    yield from SINGLE_FORMATS[format].read(file)
