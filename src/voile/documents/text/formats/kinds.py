"""What kinds of files are called where their names may be people's."""

from __future__ import annotations

from pathlib import Path

from voile.data.content_kinds import SUFFIXES
from voile.documents.text.formats.file import suffix

_MORE = (".docm", ".dotx", ".odt", ".rtf", ".msg", ".ann", ".bak", ".tmp", ".log")


def file_kind(path: Path) -> str:
    """Call a file by the end of its name, where that is a usual one.

    >>> file_kind(Path("scan.JPG")), file_kind(Path("letter to.annmay"))
    ('.jpg files', 'files of an unknown kind')
    """
    end = suffix(path)
    return f"{end} files" if end in SUFFIXES or end in _MORE else "files of an unknown kind"
