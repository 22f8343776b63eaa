"""The verb verify: check the columns and the findings of a written release again."""

from __future__ import annotations

from collections.abc import Iterator

from voile.gate.documents import measure_documents
from voile.gate.finding import figures_of
from voile.release.manifest import StoredRelease
from voile.release.verify import ReleaseCheck, check_recount, has_columns

LEFT = "not measured again: it takes the annotated text, or the source"


def verify(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Yield each check of a release, as a sentence with its result."""
    source, public = release.rows(), release.public
    yield (same := has_columns(source, public))
    if not same.holds:
        return
    texts = [column["column"] for column in public["columns"] if column["role"] == "text"]
    found = figures_of(measure_documents(source, texts, release.people()))
    yield from check_recount(release, found, left=LEFT)
