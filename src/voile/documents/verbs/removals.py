"""The private table of removals: their offsets, their reasons, and their replacements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from voile.documents.replacements.published import PublishedDocument, PublishedEdit
from voile.release.outcomes import SourceBatch

REMOVALS = "removals.parquet"


REASON = [("kind", pa.string()), ("name", pa.string()), ("number", pa.int32())]
"""The fields of a `RemovalReason`."""


REMOVED = pa.schema(
    [
        ("row", pa.int64()),
        ("column", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("published_start", pa.int64()),
        ("published_end", pa.int64()),
        ("label", pa.string()),
        ("by", pa.list_(pa.struct(REASON))),
    ]
)
"""The columns of the removals: offsets in the source and in the release, type and reasons."""


def removals_of(
    batch: SourceBatch, released: Mapping[int, PublishedDocument], texts: Sequence[str]
) -> pa.RecordBatch:
    """Return a row for each edit of a batch's documents, by their index in rows and columns."""
    rows: list[tuple[object, ...]] = []
    for place, one in released.items():
        row, column = divmod(place, len(texts))
        number, name = int(batch.numbers[row]), texts[column]
        rows += [(number, name, *edit_row(edit)) for edit in one.edits]
    cells = zip(*rows, strict=True) if rows else [()] * len(REMOVED)
    arrays = [pa.array(column, kind) for column, kind in zip(cells, REMOVED.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=REMOVED)


def edit_row(edit: PublishedEdit) -> tuple[object, ...]:
    """Return the values of an edit in `REMOVED`."""
    source, published = (edit.source_start, edit.source_end), (edit.start, edit.end)
    return *source, *published, edit.label, [reason._asdict() for reason in edit.by]


FILES = "files.parquet"


NAMED = pa.schema([("row", pa.int64()), ("file", pa.string())])
"""The source row of each file, if files are named by a column."""
