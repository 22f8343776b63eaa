"""Check a written release again: its columns, and its certificate."""

from __future__ import annotations

from collections.abc import Iterator

from voile.documents.verbs.certify import certify
from voile.release.manifest import Release
from voile.release.verify import Check, has_columns, recounted

LEFT = "not measured again: it takes the annotated text"


def verify(release: Release) -> Iterator[Check]:
    """Yield each check of a release, in words, and whether it holds."""
    source, public = release.rows(), release.public
    yield (same := has_columns(source, public))
    if not same.holds:
        return
    texts = [column["column"] for column in public["columns"] if column["role"] == "text"]
    yield from recounted(release, certify(source, texts, release.people()), left=LEFT)
