"""The texts of a part as a separate release, for people to read.

The copy is in OUT.acceptance/PART/, mode 0700. A text column of a table is copied without the
table's other columns.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from voile.core.errors import TamperedError
from voile.data import open_writer
from voile.data.files import outputs
from voile.data.files.atomic import settle
from voile.data.files.memory import AnyPath
from voile.data.opening import open_released
from voile.data.source import BATCH_ROWS
from voile.documents.verbs.report_data import ACCEPTANCE
from voile.keys.seal import EVIDENCE_SEAL, SEAL
from voile.keys.secret import Secret
from voile.release.manifest import EVIDENCE, PRIVATE_MANIFEST, ROW, StoredRelease, source_rows
from voile.release.verify import check_seal
from voile.release.writing import Manifests, ReleaseParts, write_release
from voile.study.study_release import PartRelease

COPIED_FROM = "copied_from"
"""The key in a copy's private manifest for the hash of the texts that it was made from.

A release that was corrected from the copy also has it.
"""
OF_COPY = frozenset({PRIVATE_MANIFEST, SEAL, EVIDENCE, EVIDENCE_SEAL})
OF_FILE = frozenset({"file", "sha256"})
"""The keys that a study's manifests add to those of a part."""


def open_copy(part: PartRelease, place: Path, secret: Secret, *, in_place: bool) -> StoredRelease:
    """Open the copy of a part's texts, or write it if there is none.

    in_place : whether the texts are a column of a table.

    Raises
    ------
    TamperedError : the part differs from the copied one, or the copy does not match its seal.
    """
    settle(place, outputs.RELEASE)
    if not place.exists():
        return _write_copy(part, place, secret, in_place=in_place)
    copy = StoredRelease.open(place)
    check_seal(copy, secret)
    came_from = {(part.private or {}).get(COPIED_FROM), _hash_texts(part, in_place=in_place)}
    if (copy.private or {}).get(COPIED_FROM) not in came_from:
        raise TamperedError(
            "the release changed since its reading began",
            where=str(place.parent),
            instead="remove that folder, and read the release as it is now",
        )
    return copy


def take_texts(part: PartRelease, columns: list[str], place: AnyPath) -> None:
    """Write the rows of a table that contain a part's texts. Memory: these columns."""
    rows = open_released(part.local).read(columns).take(source_rows(part.folder))
    with open_writer(place, rows.schema) as writer:
        for batch in rows.to_batches():
            writer.write(batch)


def _write_copy(part: PartRelease, place: Path, secret: Secret, *, in_place: bool) -> StoredRelease:
    """Write the copy of a part for a new reading, without an earlier acceptance."""
    place.parent.mkdir(mode=0o700, exist_ok=True)
    came_from = _hash_texts(part, in_place=in_place)

    def fill(parts: ReleaseParts) -> Manifests:
        if in_place:
            take_texts(part, [one["column"] for one in part.public["columns"]], parts.release)
        else:
            parts.release.write_bytes(part.local.read_bytes())
        for own in part.folder.iterdir():
            if own.name not in OF_COPY:
                (parts.private / own.name).write_bytes(own.read_bytes())
        public, hidden = (
            {name: x for name, x in one.items() if name not in (*OF_FILE, ACCEPTANCE)}
            for one in (part.public, part.private or {})
        )
        return public, {**hidden, COPIED_FROM: came_from}

    return write_release(place, fill, secret=secret, like="arrow", force=False)


def _hash_texts(release: StoredRelease, *, in_place: bool) -> str:
    """Return a hash of the texts of a part and of the numbers of their rows, in order."""
    columns = [one["column"] for one in release.public["columns"] if one["role"] == "text"]
    numbers = source_rows(release.folder)
    texts = open_released(release.local).read(columns)
    if in_place:
        texts = texts.take(numbers)
    found = hashlib.sha256()
    for batch in texts.append_column(ROW, numbers).to_batches(BATCH_ROWS):
        for row in zip(*(x.to_pylist() for x in batch.columns), strict=True):
            found.update(repr(row).encode())
    return found.hexdigest()
