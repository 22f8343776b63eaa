"""The certificate: what a written release holds, counted on the release itself, by Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow.compute as pc

from voile.data import Source
from voile.documents.text.reader import BATCH_ROWS
from voile.release.manifest import PERSON

MARK = re.compile(r"\[[A-Z0-9_]+\]")
COUNTED = ("documents", "characters", "marks")


def certify(
    release: Source, texts: Sequence[str], people: Source | None = None
) -> dict[str, float]:
    """Count documents, characters and marks in the text columns; memory follows the batch.

    people : whose each row is, as tokens: subjects are counted, too, in memory of their number.
    """
    found = dict.fromkeys(COUNTED, 0)
    rows = 0
    for batch in release.batches(texts, batch_rows=BATCH_ROWS):
        rows += len(batch)
        for column in batch.columns:
            found["documents"] += column.is_valid().true_count
            found["characters"] += pc.sum(pc.utf8_length(column)).as_py() or 0
            marks = pc.count_substring_regex(column, MARK.pattern)
            found["marks"] += pc.sum(marks).as_py() or 0
    if people is not None:
        found["subjects"] = _count_people(people)
    return {"rows": float(rows), **{name: float(n) for name, n in found.items()}}


def _count_people(people: Source) -> int:
    known: set[int] = set()
    for batch in people.batches([PERSON], batch_rows=BATCH_ROWS):
        known.update(pc.unique(batch.column(0)).drop_null().to_pylist())
    return len(known)
