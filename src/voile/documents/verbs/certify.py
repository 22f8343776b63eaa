"""The certificate: what a written release holds, counted on the release itself, by Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow.compute as pc

from voile.data import Source
from voile.documents.text.reader import BATCH_ROWS

MARK = re.compile(r"\[[A-Z0-9_]+\]")
COUNTED = ("documents", "characters", "marks")


def certify(release: Source, texts: Sequence[str]) -> dict[str, float]:
    """Count documents, characters and marks in the text columns; memory follows the batch."""
    found = dict.fromkeys(COUNTED, 0)
    rows = 0
    for batch in release.batches(texts, batch_rows=BATCH_ROWS):
        rows += len(batch)
        for column in batch.columns:
            found["documents"] += column.is_valid().true_count
            found["characters"] += pc.sum(pc.utf8_length(column)).as_py() or 0
            marks = pc.count_substring_regex(column, MARK.pattern)
            found["marks"] += pc.sum(marks).as_py() or 0
    return {"rows": float(rows), **{name: float(n) for name, n in found.items()}}
