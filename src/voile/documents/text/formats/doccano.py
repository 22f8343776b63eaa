"""The JSON lines of doccano: text, and [start, end, label] in `label` or `labels`.

With relations, `entities` lists objects of start_offset, end_offset and label instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voile.core.errors import SourceError
from voile.documents.text.document import Document
from voile.documents.text.formats.file import File
from voile.documents.text.formats.json_objects import annotated
from voile.documents.text.formats.quotes import Quote, looked

KEYS = ("start_offset", "end_offset", "label")
FIELDS = ("label", "labels", "entities")


def read(file: File) -> Iterator[Document]:
    """Read documents; relations and comments are left."""
    return annotated(file, "text", _quotes)


def _quotes(row: dict[str, Any], where: str) -> list[Quote] | None:
    there = [name for name in FIELDS if name in row]
    if len(there) != 1:
        said = f"has {' and '.join(there)}" if there else f"has none of {', '.join(FIELDS)}"
        raise SourceError(said, where=where)
    return looked(row[there[0]], where, KEYS)
