"""Check a written release again: its intervals, its constraints and its findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voile.core.errors import TamperedError
from voile.core.rounding import round_number
from voile.gate.finding import figures_of
from voile.gate.promises import promises_of
from voile.release.accepted_risk import PROMISED_PEOPLE
from voile.release.manifest import ACCEPTED, StoredRelease
from voile.release.verify import ReleaseCheck, check_recount, has_columns, has_rows
from voile.tables.recoding.boxes import BoxCodebook, read_codebook
from voile.tables.recoding.codebook import CodebookEntry, ReleaseCodebook
from voile.tables.recoding.marginals import marginals_in
from voile.tables.verbs.measure_release import (
    AREAS,
    MADE_UP_NAME,
    count_least_implied,
    measure_release,
)
from voile.tables.verbs.promises import least_of

PROMISES = {
    "l_diversity": "every group has at least {} sensitive values",
    "entropy_l": "every group has at least {} effective sensitive values",
    "t_closeness": "no group's sensitive values are farther than {} from everybody's",
}
LEFT = "not counted again: it takes the population, or the source, which the kit has"


def verify(release: StoredRelease) -> Iterator[ReleaseCheck]:
    """Yield each check of a release, as a sentence, and whether it passes.

    Figures that need the source or its population are not checked again. Without the private
    folder, rows count as people. There are at least as many rows as people.
    """
    source, public = release.rows(), release.public
    yield (same := has_columns(source, public))
    if not same.holds:
        return
    yield from has_rows(release, source)
    people = release.people()
    unknown, sensitive, texts = (_of_role(public, x) for x in ("identifier", "sensitive", "text"))
    codebook = read_codebook(public["policy"])
    try:
        findings = measure_release(
            source,
            people,
            codebook,
            _of_role(public, "quasi"),
            unknown=unknown,
            sensitive=sensitive,
            texts=texts,
            made_up=[c["column"] for c in public["columns"] if c["what"] == MADE_UP_NAME],
            small_areas=(release.private or {}).get(AREAS),
            k=public.get(PROMISED_PEOPLE, public["constraints"]["k"]),
        )
    except TamperedError:
        yield ReleaseCheck("every generalised cell is an interval of the policy", False)
        return
    yield ReleaseCheck("every generalised cell is an interval of the policy", True)
    named = all(map(_is_named_by_its_ends, (e for c in codebook.columns for e in c.entries)))
    yield ReleaseCheck("every interval is named by its ends", named)
    if isinstance(codebook, BoxCodebook) and public.get("promise") != "person":
        yield ReleaseCheck("no two boxes share a combination of values", codebook.are_disjoint)
    found = figures_of(one for one in findings if one.origin == "release")
    yield from _promises(public, found, unit=release.counted_unit)
    yield from _marginals(release, codebook, found["subjects"])
    yield from check_recount(release, found, left=LEFT)


def _marginals(
    release: StoredRelease, codebook: ReleaseCodebook, people: float
) -> Iterator[ReleaseCheck]:
    """Check the marginals against apply's counts, and these counts against the leaves.

    A recipient has the marginals in two digits, and can check them against the number of rows. If a
    person has several rows, there may be fewer people than rows.
    """
    public, private = marginals_in(release.public), release.private
    if private is None:
        if public:
            near = all(one.may_count(people) for one in public.values())
            fewer = all(one.may_count(min(people, sum(one.people))) for one in public.values())
            holds = near or (None if fewer else False)
            yield ReleaseCheck("the marginals count the people of the release", holds)
        return
    counted = marginals_in(private)
    same = public == {name: one.public for name, one in counted.items()}
    yield ReleaseCheck("the marginals are as apply counted them", same)
    if not counted:
        return
    least = least_of(release.public["constraints"]["k"])
    try:
        found = count_least_implied(release.rows(), release.people(), codebook, [*counted.values()])
    except TamperedError:
        found = 0
    said = f"marginals and groups together imply no count of fewer than {least} people"
    yield ReleaseCheck(said, found >= least)


def _is_named_by_its_ends(entry: CodebookEntry) -> bool:
    """Return whether a label shows both ends, if there are two ends and no list of values."""
    if entry.first is None or entry.values:
        return True
    return all(end in entry.label for end in entry.bounds if end is not None)


def _of_role(public: Mapping[str, Any], role: str) -> list[str]:
    return [column["column"] for column in public["columns"] if column["role"] == role]


def _promises(
    public: Mapping[str, Any], found: Mapping[str, float], *, unit: str = "people"
) -> Iterator[ReleaseCheck]:
    """Check the release, and the figures in its manifest, against the constraints.

    If rows are counted instead of people, shares of values may differ from the certified ones.
    Whether they break a limit is then unknown.
    """
    constraints, stated = public["constraints"], public["figures"]
    k = constraints["k"]
    one = {"people": "person", "rows": "row"}[unit] if k == 1 else unit
    yield ReleaseCheck(f"every group has at least {k} {one}", found["k"] >= k >= 1)
    if "k" in stated:
        yield ReleaseCheck(
            f"every group has as many {unit} as the manifest states", found["k"] >= stated["k"]
        )
    if "max_risk" in stated:
        within = stated["max_risk"] <= round_number(float(constraints["max_risk"]), "up")
        yield ReleaseCheck(
            f"the largest risk stated is at most {constraints['max_risk']:g}", within
        )
    if "k_all_rows" in found:
        least, accepted = public.get(PROMISED_PEOPLE, k), public.get(ACCEPTED) is not None
        shared = found["k_all_rows"] >= least
        said = f"at least {least} people show the rows of any one person"
        yield ReleaseCheck(said, None if accepted and not shared else shared)
    yield from _of_sensitive(public, found, unit == "people")


def _of_sensitive(
    public: Mapping[str, Any], found: Mapping[str, float], people_counted: bool
) -> Iterator[ReleaseCheck]:
    promised, kept = public["constraints"], dict[str, bool]()
    for promise in promises_of(promised, _of_role(public, "sensitive")):
        value = promise.value(found)
        if value is not None:
            name = promise.constraint
            kept[name] = kept.get(name, True) and promise.is_kept(value)
    for name, holds in kept.items():
        unknown = not holds and not people_counted and name != "l_diversity"
        yield ReleaseCheck(PROMISES[name].format(promised[name]), None if unknown else holds)
