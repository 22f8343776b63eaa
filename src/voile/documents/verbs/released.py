"""Pair released documents with their sources and replacements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import open_source
from voile.data.files.own_files import fitting
from voile.data.formats.folders import FILE
from voile.documents.replacements.published import PublishedDocument, PublishedEdit
from voile.documents.replacements.removal import RemovalReason
from voile.documents.text.document import Document
from voile.documents.text.sequence import DocumentSequence
from voile.documents.verbs.removals import FILES, REMOVALS
from voile.release.manifest import StoredRelease
from voile.release.scoring import rows_released
from voile.report.wording import join_names


def pair_documents(
    release: StoredRelease,
    texts: Sequence[str],
    source: DocumentSequence,
    removals: Path | None = None,
) -> Iterator[tuple[PublishedDocument, Document]]:
    """Yield each document of a release with its source document, ordered by row.

    removals : the file of its edits, if it is not that of the private folder.
    """
    table = open_source(removals or release.folder / REMOVALS).read()
    with fitting(f"the table of removals, {REMOVALS},", removals):
        edits = edits_by_place(table)
    shown = release.rows().read()
    numbers, called = rows_shown(release), released_names(release)
    columns = [shown.column(called[name]).to_pylist() for name in texts]
    for place, row in enumerate(numbers):
        for number, name in enumerate(texts):
            one = source[row * len(texts) + number]
            text = columns[number][place] or ""
            own = edits.get((row, name), ())
            yield PublishedDocument(text, (), one.id, one.subject, edits=own), one


def released_names(release: StoredRelease) -> Mapping[str, str]:
    """Return a release's names for the columns of its source."""
    return {one.get("from", one["column"]): one["column"] for one in release.public["columns"]}


def rows_shown(release: StoredRelease) -> list[int]:
    """Return the source row of each row of a release; files in a folder are matched by name."""
    if not (release.folder / FILES).exists():
        return [int(row) for row in rows_released(release)]
    named = open_source(release.folder / FILES).read().to_pylist()
    rows = {one["file"]: one["row"] for one in named}
    return [rows[name] for name in release.rows().read([FILE]).column(FILE).to_pylist()]


def edits_by_place(table: pa.Table) -> Mapping[tuple[int, str], tuple[PublishedEdit, ...]]:
    """Return the edits of each row and column of the source."""
    found: dict[tuple[int, str], list[PublishedEdit]] = {}
    for one in table.to_pylist():
        here, there = (one["published_start"], one["published_end"]), (one["start"], one["end"])
        edit = PublishedEdit(
            *here, *there, one["label"], tuple(RemovalReason(**by) for by in one["by"])
        )
        found.setdefault((one["row"], one["column"]), []).append(edit)
    return {key: tuple(edits) for key, edits in found.items()}


def check_texts(texts: Sequence[str], released: Sequence[str], where: str) -> None:
    """Refuse a source with another number of text columns than were released."""
    if len(texts) != len(released):
        raise RequestError(
            f"{len(texts)} columns of text are named, and {len(released)} were released",
            where=where,
            instead=f"name the columns of {join_names(released)}, in this order",
        )
