"""The first section of a study's report: content, disclosure by facts, and pending reviews."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from voile.core.wording import count
from voile.report.charts.numbers import number, share
from voile.report.sections import Audience, Block, Figure, Figures, Grid, Section
from voile.report.wording import join_names
from voile.study.study_release import EXPORT, StudyRelease, has_proofs

FATES = ("suppressed", "rejected")
MOST = 12
"""Maximum number of names in one line."""
_FACTS = (
    ("one_fact_alone", "by 1 fact of a part"),
    ("two_facts_alone", "by 2 facts"),
    ("three_facts_alone", "by 3 facts"),
    ("all_facts_alone", "by all facts"),
    ("one_row_alone", "by one row"),
)


def summarise(release: StudyRelease, audience: Audience) -> Section:
    """Return the released and unreleased content, the unique people by facts, and pending reviews.

    audience : the public report has names and shares, without row counts.
    """
    rows = tuple(
        (name, " ".join(lines))
        for name, lines in (
            ("Released content", [*_describe_released(release, audience)]),
            ("Unreleased content", [*_describe_unreleased(release, audience)]),
            ("Disclosure by a person's facts", [*_describe_facts(release.public["figures"])]),
            ("Parts that need review", [*_describe_reviews(release)]),
        )
        if lines
    )
    blocks: tuple[Block, ...] = (
        Figures(_list_figures(release)),
        Grid(("question", "answer"), rows),
    )
    return Section("summary", "At a glance", blocks, first=True)


def _list_figures(release: StudyRelease) -> tuple[Figure, ...]:
    public = release.public["figures"]
    found = [
        (
            "Alone by all facts",
            "all_facts_alone",
            "share of people whom all known facts single out",
        ),
        ("Alone by one row", "one_row_alone", "share of people with a row that nobody else has"),
        ("Own values in text", "values_in_text", "share of people with an unreleased value there"),
    ]
    figures = [
        Figure(label, share(public[key]), what) for label, key, what in found if key in public
    ]
    waiting = Figure(
        "Parts to review", number(len(release.unaccepted_parts)), "texts that nobody read"
    )
    return (*figures[:3], waiting)


def _describe_released(release: StudyRelease, audience: Audience) -> Iterator[str]:
    files = release.public.get(EXPORT, {}).get("files", {})
    if counts := (release.private or {}).get(EXPORT, {}).get("counts"):
        released = {name: one["released"] for name, one in counts.items() if one["released"]}
        read = sum(one["read"] for one in counts.values())
        if audience == "internal":
            yield f"{sum(released.values()):,} of {count(read, 'row')} of the export."
    names = [name.rsplit(".", 1)[0] for name in files] or list(release.public["parts"])
    yield f"{_shorten(names)}."


def _describe_unreleased(release: StudyRelease, audience: Audience) -> Iterator[str]:
    export, hidden = release.public.get(EXPORT, {}), release.private or {}
    names = [one["name"] for one in export.get("unreleased", ())]
    counts = hidden.get(EXPORT, {}).get("counts", {}) if audience == "internal" else {}
    if counts:
        lost = {fate: sum(one[fate] for one in counts.values()) for fate in FATES}
        yield " and ".join(f"{count(n, 'row')} {fate}" for fate, n in lost.items()) + "."
    if whole := [one for one in names if "." not in one]:
        yield f"No rule releases {_shorten(whole)}."
    if inner := len(names) - len(whole):
        yield f"{count(inner, 'element')} of released types: see below."
    for name, part in hidden.get("parts", {}).items() if audience == "internal" else ():
        columns = part.get("roles", {}).get("columns", {})
        shown = {one["column"] for one in release.public["parts"][name]["columns"]}
        if gone := [one for one in columns if one not in shown]:
            yield f"Columns of {name}: {_shorten(gone)}."


def _describe_facts(figures: Mapping[str, float]) -> Iterator[str]:
    said = [f"{share(figures[key])} {words}" for key, words in _FACTS if key in figures]
    if said:
        yield f"People alone, also by the table's columns: {', '.join(said)}."


def _describe_reviews(release: StudyRelease) -> Iterator[str]:
    if release.unaccepted_parts:
        yield f"{join_names(list(release.unaccepted_parts))}: run voile study accept."
    elif has_proofs(release.public):
        yield "None: readers proved a limit for each part of texts."
    else:
        yield "None waits for readers."


def _shorten(names: Sequence[str]) -> str:
    more = [f"{len(names) - MOST} more"] if len(names) > MOST else []
    return join_names([*names[:MOST], *more])
