"""Check a written release again: its columns, and its certificate."""

from __future__ import annotations

from collections.abc import Iterator

from voile.documents.certify import COUNTED, certify
from voile.io import open_source
from voile.release import Release


def verify(release: Release) -> Iterator[tuple[str, bool]]:
    """Yield each check of a release, in words, and whether it holds."""
    source = open_source(release.path)
    named = [column["column"] for column in release.public["columns"]]
    same = list(source.columns) == named
    yield "the columns are those of the manifest", same
    if not same:
        return
    texts = [c["column"] for c in release.public["columns"] if c["role"] == "text"]
    found = certify(source, texts)
    for name in ("rows", *COUNTED):
        expected = (release.private or {}).get("figures", {}).get(name)
        if expected is not None:
            yield f"{name} are as many as certified", found[name] == expected
