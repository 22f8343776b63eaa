"""Check a written release again: that it holds the policy's intervals, and its certificate."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

from voile.errors import TamperedError
from voile.io import open_source
from voile.release import Release
from voile.tables.certify import certify
from voile.tables.codebook import Codebook

COUNTED = ("k", "sample_uniques", "prosecutor_mean", "unique_with_kept")


def verify(release: Release) -> Iterator[tuple[str, bool]]:
    """Yield each check of a release, in words, and whether it holds.

    What only the source's population could tell is not checked again. Without the private folder
    rows count as people.
    """
    source = open_source(release.path)
    codebook = Codebook.from_data(release.public["policy"])
    named = [column["column"] for column in release.public["columns"]]
    same = list(source.columns) == named
    yield "the columns are those of the manifest", same
    if not same:
        return
    people = release.people()
    unknown = [c["column"] for c in release.public["columns"] if c["role"] == "identifier"]
    try:
        found = certify(source, people, codebook, unknown=unknown)
    except TamperedError:
        yield "every generalised cell is an interval of the policy", False
        return
    yield "every generalised cell is an interval of the policy", True
    k = release.public["constraints"]["k"]
    if people is not None or release.private is not None:
        yield f"every group holds at least {k} {'person' if k == 1 else 'people'}", found["k"] >= k
    for name in COUNTED:
        expected = (release.private or {}).get("figures", {}).get(name)
        if expected is not None:
            yield f"{name} is as certified", isclose(found[name], expected, rel_tol=1e-9)
