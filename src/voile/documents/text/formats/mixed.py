"""A folder of files of several formats, each by its own reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from voile.core.errors import SourceError
from voile.data.content_kinds import SUFFIXES
from voile.documents.text.document import Document
from voile.documents.text.formats.brat import find_beside
from voile.documents.text.formats.file import File, Unread, suffix
from voile.documents.text.formats.recognition import format_of
from voile.documents.text.formats.registry import SINGLE_FORMATS

_MORE = (".docm", ".dotx", ".odt", ".rtf", ".msg", ".ann", ".bak", ".tmp", ".log")


def read_each(file: File) -> Iterator[Document | Unread]:
    """Read a file by its own format; refuse one that holds no documents, by its kind alone."""
    if suffix(file.path) == ".ann" and find_beside(file.path, ".txt") is not None:
        return  # read with its text
    format = format_of(file.path, file.encoding)
    if format is None or format == "table":
        what = "tables are not documents" if format else "not read"
        raise SourceError(f"{_file_kind(file.path)}: {what}", where=file.path.name)
    yield from SINGLE_FORMATS[format].read(file)


def _file_kind(path: Path) -> str:
    """Return the end of a file's name if it is a usual one: other names may be people's.

    >>> _file_kind(Path("scan.JPG")), _file_kind(Path("letter to.annmay"))
    ('.jpg files', 'files of an unknown kind')
    """
    end = suffix(path)
    return f"{end} files" if end in SUFFIXES or end in _MORE else "files of an unknown kind"
