"""Read JSON with one object for each document: the formats of voile, presidio-research and doccano.

The objects are lines or a list. In presidio-research, the texts of one template are similar:
``subject="template_id"`` keeps them in one fold. doccano has [start, end, label] in `label` or
`labels`, or with relations `entities`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from voile.core.errors import RequestError, SourceError, nearest
from voile.data.formats.jsonlines import parser
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile
from voile.documents.text.formats.quotes import QuotedSpan, place_quotes, read_quotes_if_any


def read_objects(file: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the row number and the object of each document.

    Lines are streamed. A list, or one object over several lines, is read as a whole.
    """
    if file.head().lstrip().startswith("["):
        yield from _list(file)
        return
    parse = parser(file.path.name)
    filled = ((number, line) for number, line in file.lines() if line.strip())
    for place, (number, line) in enumerate(filled):
        try:
            row = parse(number, line)
        except SourceError:
            if place or (whole := _object_over_lines(file)) is None:
                raise
            yield number, whole
            return
        yield number, row


def _object_over_lines(file: TextFile) -> dict[str, Any] | None:
    """Return the single object of a file with several lines; None for other contents."""
    text = file.text().strip()
    try:
        found = json.loads(text) if "\n" in text else None
    except (RecursionError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _list(file: TextFile) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        rows = json.loads(file.text())
    except json.JSONDecodeError as error:
        raise SourceError(
            f"is not whole JSON from line {error.lineno}, character {error.colno} on",
            where=file.path.name,
        ) from None
    except RequestError:
        raise
    except (RecursionError, ValueError):
        raise SourceError("is JSON beyond reading", where=file.path.name) from None
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise SourceError(f"item {number} of the list is not an object", where=file.path.name)
        yield number, row


def read_annotated(
    file: TextFile, text: str, quotes: Callable[[dict[str, Any], str], list[QuotedSpan] | None]
) -> Iterator[Document]:
    for number, row in read_objects(file):
        content = row.get(text)
        if not isinstance(content, str):
            raise SourceError(f"row {number} has no text in the field {text}", where=file.path.name)
        own = [row[key] for key in ("id", "doc_id") if row.get(key) not in (None, "")]
        id = file.make_id(own[0] if own else number)
        found = quotes(row, f"document {id}")
        spans = place_quotes(content, found or (), f"document {id}")
        subject, looked_at = _subject(file, number, row), found is not None
        yield file.document(content, spans, id=id, subject=subject, annotated=looked_at)


def _subject(file: TextFile, number: int, row: dict[str, Any]) -> str | None:
    """Return the subject: the field `subject`, or the field that the caller named."""
    if file.subject is not None and file.subject not in row:
        raise RequestError(
            f"row {number} has no field {file.subject} for its subject",
            where=file.path.name,
            instead=nearest(file.subject, row),
        )
    subject = row.get(file.subject or "subject")
    if subject is not None and not isinstance(subject, str | int):
        raise SourceError(f"the subject of row {number} is not text", where=file.path.name)
    return None if subject is None else str(subject)


def read_jsonl(file: TextFile) -> Iterator[Document]:
    """Read voile's format: text, spans with start, end and label, id or doc_id, and subject."""
    return read_annotated(
        file, "text", lambda row, where: read_quotes_if_any(row.get("spans"), where)
    )


PRESIDIO_KEYS = ("start_position", "end_position", "entity_type")


def read_presidio(file: TextFile) -> Iterator[Document]:
    """Read the documents of presidio-research.

    The value of each span must be the text at its offsets.
    """
    return read_annotated(file, "full_text", _presidio_quotes)


def _presidio_quotes(row: dict[str, Any], where: str) -> list[QuotedSpan] | None:
    return read_quotes_if_any(row.get("spans"), where, PRESIDIO_KEYS, "entity_value")


DOCCANO_KEYS = ("start_offset", "end_offset", "label")
DOCCANO_FIELDS = ("label", "labels", "entities")


def read_doccano(file: TextFile) -> Iterator[Document]:
    return read_annotated(file, "text", _doccano_quotes)


def _doccano_quotes(row: dict[str, Any], where: str) -> list[QuotedSpan] | None:
    there = [name for name in DOCCANO_FIELDS if name in row]
    if len(there) != 1:
        said = f"has {' and '.join(there)}" if there else f"has none of {', '.join(DOCCANO_FIELDS)}"
        raise SourceError(said, where=where)
    return read_quotes_if_any(row[there[0]], where, DOCCANO_KEYS)
