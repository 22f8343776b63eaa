"""Read documents from the columns of a table, by their roles: Parquet, CSV, a database, a frame.

A column with the role `text` contains documents. Its setting `spans` is the name of the column with
their spans, which has the role `label`. Spans are JSON text, or lists of objects with start, end
and label. Its setting `pos` may be the name of a column with parts of speech, in the same form with
tag instead of label.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, nearest
from voile.data import Source, open_source
from voile.data.roles import Roles
from voile.data.source import BATCH_ROWS
from voile.documents.text.document import Document, Span
from voile.documents.text.formats.quotes import place_quotes, read_quotes, read_quotes_if_any

SPANS, POS = "spans", "pos"


def batch_documents(
    batch: pa.RecordBatch, roles: Roles, *, first: int = 1, annotated: bool = True
) -> list[Document]:
    """Create the documents of a batch, ordered by row and then by text column."""
    texts = span_columns(roles, batch.schema)
    columns = [_texts(batch, name) for name in texts]
    spans = [batch.column(by).to_pylist() if annotated and by else None for by in texts.values()]
    tags = [_cells(batch, by) for by in pos_columns(roles).values()]
    whose = batch.column(roles.subject).to_pylist() if roles.subject else [None] * batch.num_rows
    documents = []
    for row in range(batch.num_rows):
        subject = None if whose[row] is None else str(whose[row])
        for (name, by), column, found, words in zip(
            texts.items(), columns, spans, tags, strict=True
        ):
            where = f"row {first + row}"
            id = f"{where}, column {name}" if len(texts) > 1 else where
            text = column[row] or ""
            marked = found and _spans(text, found[row], f"{where}, column {by}")
            pos = words and _pos(words[row], f"{where}, parts of speech")
            annotated_here = marked is not None
            documents.append(Document(text, marked or (), id, subject, pos or (), annotated_here))
    return documents


def span_columns(roles: Roles, columns: pa.Schema) -> dict[str, str | None]:
    """Return the text columns, each with the column that contains its spans, if any."""
    texts = {name: roles.columns[name].settings.get(SPANS) for name in roles.of("text")}
    if not texts:
        raise RequestError("no column has the role text", where="roles")
    labels = roles.of("label")
    for name, spans in texts.items():
        if spans is not None and spans not in labels:
            raise RequestError(
                f"the spans of column {name} are in no column with the role label",
                where="roles",
                instead=nearest(str(spans), labels) if labels else f'give one: {spans} = "label"',
            )
        if name in columns.names and not pa.types.is_string(columns.field(name).type):
            raise RequestError(f"column {name} is {columns.field(name).type}, and holds no text")
    return texts


def pos_columns(roles: Roles) -> dict[str, str | None]:
    """Return the text columns, each with the column that contains its parts of speech, if any."""
    texts = {name: roles.columns[name].settings.get(POS) for name in roles.of("text")}
    for name, pos in texts.items():
        if pos is not None and pos not in roles.columns:
            raise RequestError(
                f"the parts of speech of column {name} are in no column",
                where="roles",
                instead=nearest(str(pos), roles.columns),
            )
    return texts


def read_table(
    thing: str | PathLike[str], encoding: str | None, subject: str | None
) -> Iterator[Document]:
    """Stream a table with the column text, and optionally the columns spans and subject."""
    source = open_source(thing, encoding=encoding)
    if "text" not in source.columns:
        raise RequestError(
            "has no column text", where=source.name, instead="say its columns' roles in a file"
        )
    columns: dict[str, Any] = dict.fromkeys(source.columns, "drop")
    columns["text"] = "text"
    if SPANS in columns:
        columns |= {"text": {"role": "text", SPANS: SPANS}, SPANS: "label"}
    about = subject or ("subject" if "subject" in columns else None)
    roles = Roles.model_validate({"columns": columns, "subject": about})
    yield from source_documents(source, roles)


def source_documents(source: Source, roles: Roles) -> Iterator[Document]:
    """Stream the documents of a source: one for each row and text column, in that order."""
    roles.check(source.columns, "text")
    texts = span_columns(roles, source.schema())
    beside = [*texts.values(), *pos_columns(roles).values(), roles.subject]
    needed = dict.fromkeys([*texts, *filter(None, beside)])
    first = 1
    for batch in source.batches(needed, batch_rows=BATCH_ROWS):
        yield from batch_documents(batch, roles, first=first)
        first += batch.num_rows


def _texts(batch: pa.RecordBatch, name: str) -> list[str | None]:
    found: list[str | None] = batch.column(name).to_pylist()
    return found


def _cells(batch: pa.RecordBatch, name: str | None) -> list[object] | None:
    return batch.column(name).to_pylist() if name in batch.schema.names else None


def _spans(text: str, found: object, where: str) -> tuple[Span, ...] | None:
    quotes = read_quotes_if_any(_unpack_spans(found, where), where)
    return None if quotes is None else place_quotes(text, quotes, where)


def _pos(found: object, where: str) -> tuple[tuple[int, int, str], ...]:
    quotes = read_quotes(_unpack_spans(found, where), where, ("start", "end", "tag"))
    return tuple((*quote.places[0], quote.label) for quote in quotes)


def _unpack_spans(found: object, where: str) -> object:
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except (ValueError, RecursionError):
        raise SourceError("the spans are not JSON", where=where) from None
