"""The private table of removals: their characters, their reasons, and their replacements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from voile.documents.replacements.published import PublishedDocument, PublishedEdit
from voile.release.outcomes import SourceBatch

REMOVALS = "removals.parquet"


REASON = [("kind", pa.string()), ("name", pa.string()), ("number", pa.int32())]
"""The fields of a `Reason`."""


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
"""Who removed what: characters of the source, and where in the release what stands for them."""


def removals_of(
    batch: SourceBatch, released: Mapping[int, PublishedDocument], texts: Sequence[str]
) -> pa.RecordBatch:
    """Return a row for each edit of a batch's documents, by their place in rows and columns."""
    rows: list[tuple[object, ...]] = []
    for place, one in released.items():
        row, column = divmod(place, len(texts))
        number, name = int(batch.numbers[row]), texts[column]
        rows += [(number, name, *edit_row(edit)) for edit in one.edits]
    cells = zip(*rows, strict=True) if rows else [()] * len(REMOVED)
    arrays = [pa.array(column, kind) for column, kind in zip(cells, REMOVED.types, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=REMOVED)


def edit_row(edit: PublishedEdit) -> tuple[object, ...]:
    """Return what `REMOVED` stores of an edit."""
    source, published = (edit.source_start, edit.source_end), (edit.start, edit.end)
    return *source, *published, edit.label, [reason._asdict() for reason in edit.by]


FILES = "files.parquet"


NAMED = pa.schema([("row", pa.int64()), ("file", pa.string())])
"""Which row of the source is which file, where files are called by a column."""
