"""The JSON of presidio-research: full_text, and spans with their type, positions and value.

Texts of one template are alike: with ``subject="template_id"`` they stay in one fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from voile.documents.text.document import Document
from voile.documents.text.formats.file import File
from voile.documents.text.formats.json_objects import annotated
from voile.documents.text.formats.quotes import Quote, looked

KEYS = ("start_position", "end_position", "entity_type")


def read(file: File) -> Iterator[Document]:
    """Read documents; each span's value has to be what the text holds there."""
    return annotated(file, "full_text", _quotes)


def _quotes(row: dict[str, Any], where: str) -> list[Quote] | None:
    return looked(row.get("spans"), where, KEYS, "entity_value")
