"""What kinds of files and attachments are called where their names may be people's."""

from __future__ import annotations

from mimetypes import MimeTypes
from pathlib import Path

from voile.documents.text.formats.file import suffix

_SUFFIXES = MimeTypes().types_map[True]
_CONTENTS = frozenset(_SUFFIXES.values())
_MORE = (".docm", ".dotx", ".odt", ".rtf", ".msg", ".ann", ".bak", ".tmp", ".log")


def content_kind(content: str) -> str:
    """Call a content type by its name; by its first half where it is none of the usual ones.

    >>> content_kind("application/PDF"), content_kind("image/x-ann-may"), content_kind("ann")
    ('application/pdf', 'image', 'an unknown kind')
    """
    kind = content.strip().lower()
    first = kind.partition("/")[0]
    if kind in _CONTENTS:
        return kind
    return first if first in {one.partition("/")[0] for one in _CONTENTS} else "an unknown kind"


def file_kind(path: Path) -> str:
    """Call a file by the end of its name, where that is a usual one.

    >>> file_kind(Path("scan.JPG")), file_kind(Path("letter to.annmay"))
    ('.jpg files', 'files of an unknown kind')
    """
    end = suffix(path)
    return f"{end} files" if end in _SUFFIXES or end in _MORE else "files of an unknown kind"
