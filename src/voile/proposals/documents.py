"""Propose roles for documents: the text columns, the marked identifiers, and the subject.

All other columns are dropped or identifiers. No column is released with a text unless a person asks
for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from voile.data.column_words import ends_in, find_words, mentions, split_name
from voile.data.roles import Role
from voile.documents.text.formats.quotes import QuotedSpan, read_quotes
from voile.documents.text.source import UNREAD
from voile.proposals.proposal import ColumnProposal, RolesProposal, find_subject, identifying
from voile.proposals.seen import ColumnLook, look

if TYPE_CHECKING:
    import pyarrow as pa

    from voile.data import Source

ROWS = 20_000
BYTES = 64 << 20
LOOK = 1_000  # number of rows with annotations to read
POS = "pos"
UNKNOWN = "lists, objects or bytes: drop it, or give a text that is in it a column of its own"
Said = tuple[Role, str, dict[str, Any]]
Spans = Sequence[Sequence[QuotedSpan]]


def examine_documents(source: Source) -> RolesProposal:
    """Propose a role for every column, from its name, its type and the first 20,000 rows.

    The reasons contain types and counts, but no values.
    """
    table = _DocumentsTable(_first_rows(source))
    columns = tuple(ColumnProposal(name, *table.propose_role(name)) for name in table.column_looks)
    return RolesProposal(source.name, len(table.rows), columns, table.subject)


def holds_spans(source: Source) -> bool:
    """Return whether a source has a column of spans: JSON or lists of start, end and label."""
    may = [name for name, type_ in source.columns.items() if _may_hold_spans(type_)]
    first = next(source.batches(may, batch_rows=LOOK), None) if may else None
    return first is not None and any(map(_spans, first.columns))


@dataclass(frozen=True, eq=False)
class _DocumentsTable:
    """The examined rows, and the findings in them."""

    rows: pa.Table

    def propose_role(self, name: str) -> Said:
        seen = self.column_looks[name]
        if name == self.subject:
            return "identifier", "says whose a document is", {}
        if name in self._spans:
            return "label", "marks identifiers: start, end and label", {}
        if name in self._texts:
            return self._text(seen)
        if why := identifying(seen):
            return "identifier", why, {}
        if seen.kind in ("nested", "other") and seen.present and not _lists(self.rows.column(name)):
            return "undecided", UNKNOWN, {}
        return "drop", _why_dropped(seen, self.rows.column(name)), {}

    @cached_property
    def column_looks(self) -> Mapping[str, ColumnLook]:
        return {one.name: one for one in look(self.rows)}

    @cached_property
    def subject(self) -> str | None:
        """The subject column of documents, if people have several documents."""
        named = [
            name
            for name, one in self.column_looks.items()
            if mentions(name, "people")
            and one.kind in ("text", "whole")
            and 1 < one.distinct < one.present
            and not one.free_text
        ]
        return find_subject(self.column_looks.values()) or next(iter(named), None)

    @cached_property
    def _spans(self) -> Mapping[str, Spans]:
        looked = self.rows.slice(0, LOOK)
        found = {
            name: _spans(looked.column(name))
            for name in looked.column_names
            if _may_hold_spans(looked.schema.field(name).type)
        }
        return {name: spans for name, spans in found.items() if spans}

    @cached_property
    def _texts(self) -> Mapping[str, str | None]:
        """The text columns, each with the column that marks its identifiers, if any."""
        texts: dict[str, str | None] = {
            name: None
            for name, one in self.column_looks.items()
            if name != self.subject and name not in self._spans and _is_text(one)
        }
        for name, spans in self._spans.items():
            free = [text for text, by in texts.items() if by is None and self._fit(spans, text)]
            if free:
                texts[max(free, key=lambda text: _alike(text, name))] = name
        return texts

    def _fit(self, spans: Spans, text: str) -> bool:
        """Return whether all spans are inside the texts of a column."""
        looked = self.rows.column(text).slice(0, LOOK).to_pylist()
        return all(
            end <= len(words or "")
            for words, quotes in zip(looked, spans, strict=True)
            for quote in quotes
            for _, end in quote.places
        )

    def _text(self, seen: ColumnLook) -> Said:
        spans = self._texts[seen.name]
        why = f"text, {seen.length:.0f} characters on average"
        if spans is None:
            why += "; no identifier is marked in it, so that nothing is learnt from it"
        if unread := self.rows.column(seen.name).to_pylist().count(UNREAD):
            why += f"; {unread:,} could not be read"
        return "text", why, {} if spans is None else {"spans": spans}


def _first_rows(source: Source) -> pa.Table:
    import pyarrow as pa

    batches: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in source.batches(batch_rows=LOOK):
        batches.append(batch)
        rows, size = rows + len(batch), size + batch.nbytes
        if rows >= ROWS or size >= BYTES:
            break
    return pa.Table.from_batches(batches, source.schema())


def _is_text(seen: ColumnLook) -> bool:
    if seen.kind != "text" or not seen.present or mentions(seen.name, "number"):
        return False
    if ends_in(seen.name, "texts"):
        return True
    found = find_words(seen.name)
    return seen.free_text and (found is None or found[0].role != "identifier")


def _alike(text: str, spans: str) -> int:
    """Count the words that the names of two columns share."""
    return len({*split_name(text)} & {*split_name(spans)})


def _may_hold_spans(type_: pa.DataType) -> bool:
    import pyarrow as pa

    if not pa.types.is_list(type_):
        return bool(pa.types.is_string(type_))
    of = type_.value_type
    named = {of.field(n).name for n in range(of.num_fields)} if pa.types.is_struct(of) else set()
    return {"start", "end", "label"} <= named


def _spans(column: pa.Array | pa.ChunkedArray) -> Spans | None:
    """Return the marked spans of each row. Return None for other contents, or without any span."""
    try:
        found = [read_quotes(_unpack_cell(cell), "") for cell in column.to_pylist()]
    except (ValueError, RecursionError):
        return None
    return found if any(found) else None


def _unpack_cell(cell: object) -> object:
    return json.loads(cell) if isinstance(cell, str) else cell


def _why_dropped(seen: ColumnLook, column: pa.ChunkedArray) -> str:
    if not seen.present:
        return "empty"
    if seen.name == POS and _lists(column):
        return "parts of speech, it seems: a text's setting pos names them"
    if _lists(column):
        return (
            "annotations, it seems, and not of start, end and label: presidio:FILE and "
            "doccano:FILE open those of these tools"
        )
    return f'"keep" lets it leave as it is, which can tell whose a text is; {seen.counts}'


def _lists(column: pa.ChunkedArray) -> bool:
    """Return whether all cells are JSON lists, and one of them contains a list or an object."""
    try:
        found = [
            _unpack_cell(cell) for cell in column.slice(0, LOOK).to_pylist() if cell is not None
        ]
    except (ValueError, RecursionError):
        return False
    parts = [part for one in found if isinstance(one, list) for part in one]
    return all(isinstance(one, list) for one in found) and any(
        isinstance(part, list | dict) for part in parts
    )
