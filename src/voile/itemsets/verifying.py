"""Check a written release again: that it holds what its policy publishes, and its certificate."""

from __future__ import annotations

from collections.abc import Iterator

from voile.errors import TamperedError
from voile.io import open_source
from voile.itemsets.certify import certify
from voile.itemsets.feasible import Constraint
from voile.itemsets.long_tables import released
from voile.release import Release

COUNTED = ("anonymity", "exact_anonymity", "unique_rows", "empty_rows", "rows", "subjects")


def verify(release: Release) -> Iterator[tuple[str, bool]]:
    """Yield each check of a release, in words, and whether it holds.

    Without the private folder rows count as people.
    """
    source = released(open_source(release.path), release.public["policy"])
    named = [column["column"] for column in release.public["columns"]]
    same = list(source.columns) == named
    yield "the columns are those of the manifest", same
    if not same:
        return
    people = release.people()
    asked = release.public["constraints"]
    constraint = Constraint(asked["k"], asked["m"], asked["absences"])
    try:
        policy = release.public["policy"]
        found = certify(source, people, policy, constraint)
    except TamperedError:
        yield "every cell holds what the policy publishes", False
        return
    yield "every cell holds what the policy publishes", True
    if policy and found["rows"] and (people is not None or release.private is not None):
        said = f"at k = {constraint.k}, whatever she may know is shared by so many"
        yield said, found["anonymity"] >= constraint.k
    for name in COUNTED:
        expected = (release.private or {}).get("figures", {}).get(name)
        if expected is not None:
            yield f"{name} is as certified", found[name] == expected
