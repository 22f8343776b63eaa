"""Count the documents, characters and marks of a release in its written bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow.compute as pc

from voile.data import Source
from voile.gate.finding import NOBODY, GateFinding, Unit

BATCH_ROWS = 1024
MARK = r"\[[A-Z0-9_]+\]"
"""The pattern of a label that replaces an identifier."""
UNITS: dict[str, Unit] = {"documents": "documents", "characters": "characters", "marks": "marks"}


def measure_documents(
    release: Source, texts: Sequence[str], people: Source | None = None
) -> tuple[GateFinding, ...]:
    """Count the rows, documents, characters and marks in the text columns.

    people : a column `person` of tokens in the release's order. If it is given, subjects are
        counted as well.

    Memory: one batch of rows, and the distinct tokens.
    """
    found = dict.fromkeys(UNITS, 0)
    rows = 0
    for batch in release.batches(texts, batch_rows=BATCH_ROWS):
        rows += len(batch)
        for column in batch.columns:
            found["documents"] += column.is_valid().true_count
            found["characters"] += pc.sum(pc.utf8_length(column)).as_py() or 0
            found["marks"] += pc.sum(pc.count_substring_regex(column, MARK)).as_py() or 0
    subjects = () if people is None else (_count_people(people),)
    return (
        *_find_counts(rows, found),
        *(NOBODY.finds("subjects", n, "people") for n in subjects),
    )


def find_no_documents() -> tuple[GateFinding, ...]:
    """Return the findings of a release without rows, which some file formats cannot represent."""
    return _find_counts(0, dict.fromkeys(UNITS, 0))


def _find_counts(rows: int, found: Mapping[str, int]) -> tuple[GateFinding, ...]:
    counts = (NOBODY.finds(name, found[name], unit) for name, unit in UNITS.items())
    return (NOBODY.finds("rows", rows, "rows"), *counts)


def _count_people(people: Source) -> int:
    known: set[int] = set()
    for batch in people.batches(["person"], batch_rows=BATCH_ROWS):
        known.update(pc.unique(batch.column(0)).drop_null().to_pylist())
    return len(known)
