"""Report on a release that another tool has made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from voile.gate.safe_harbor import SAFE_HARBOR_FOUND
from voile.release.assessment import ReleaseAssessment
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import Audience, Figure, Figures, Grid, Prose, Section, limits
from voile.report.wording import join_names, share, share_of, size
from voile.tables.foreign.columns import HOW
from voile.tables.verbs.report import LIMITS, NOTHING_LEFT, TAKES
from voile.tables.verbs.report_figures import risks
from voile.tables.verbs.report_losses import analysts
from voile.tables.verbs.wording import count_among, format_expected, highest_risk

READ = {
    "exact": "as one value",
    "generalised": "as an interval or a set",
    "suppressed": "suppressed",
    "unread": "not read: counted as released exactly",
}
OWN_LIMITS = (
    "Without a key, released rows were matched to fitting rows of the original, and equal rows at "
    "random.",
    *LIMITS[:-1],
)
SYNTHETIC_LIMITS = (
    "Nobody is behind one synthetic row. So k, expected matches and the share of unique rows have "
    "no meaning for such a release, and are not counted.",
    "An adversary who knows how the rows were drawn does better than one with the rows alone.",
    "These attacks are not all possible attacks: other leaks are unknown.",
)


def assessed_sections(assessment: ReleaseAssessment, *, audience: Audience) -> tuple[Section, ...]:
    """Return the report's sections: the risks first, then how voile read the release.

    A public report contains no count of people below 11.
    """
    facts = assessment.facts
    attacks = evidence_sections(
        assessment.evidence, audience, takes={} if facts.get("synthetic") else TAKES
    )
    if facts.get("synthetic"):
        summary = Section("summary", "In short", (Prose(_synthetic_in_short(facts)),), first=True)
        return summary, *attacks, _reading(facts, audience), limits(SYNTHETIC_LIMITS)
    parts = [
        _summary(assessment, audience),
        _reading(facts, audience),
        risks(facts, assessment.figures, audience, facts["sensitive"], is_fitted=False),
        analysts(facts, audience, is_fitted=False),
        *attacks,
        limits(OWN_LIMITS),
    ]
    return tuple(part for part in parts if part is not None)


def in_short(assessment: ReleaseAssessment, audience: Audience) -> tuple[str, ...]:
    """Return sentences on the risk, the information loss, and the warnings."""
    facts, figures = assessment.facts, assessment.figures
    people, whole = figures["subjects"], size(facts["subjects"], audience)
    whom = "population" if facts["population_known"] else "original"
    said = [
        *(f"The release has a key to the original: rows can be {key}." for key in facts["keys"]),
        f"An adversary who links every record to the {whom} is expected to re-identify "
        f"{count_among(figures['expected_matches'], f'{people:,.0f}')} in the release "
        f"({share(figures['mean_risk'])}); without protection, "
        f"{count_among(facts['before']['expected_matches'], whole)} of the original.",
        *_compare_matches(figures, whom),
        f"Information loss: {share(figures['loss'])} (0% = original, 100% = no information).",
        describe_safe_harbor(figures),
        *_warnings(facts, audience),
    ]
    return tuple(said)


def _compare_matches(figures: Mapping[str, float], whom: str) -> Iterator[str]:
    if "relative_risk" in figures:
        yield (
            f"The expected re-identifications are {share(figures['relative_risk'])} of those that "
            f"the released columns' original values give against the {whom}."
        )


def describe_safe_harbor(figures: Mapping[str, float]) -> str:
    """Return a sentence on released cells with values of HIPAA Safe Harbor's categories.

    >>> describe_safe_harbor({"safe_harbor_found": 2, "safe_harbor_found(dates)": 2})
    "2 released cells have a value of HIPAA Safe Harbor's 18 categories (dates: 2)."
    >>> describe_safe_harbor({"safe_harbor_found": 0})
    "No released cell has a value of HIPAA Safe Harbor's 18 categories, by form or column name."
    """
    cells = figures[SAFE_HARBOR_FOUND]
    if not cells:
        return (
            "No released cell has a value of HIPAA Safe Harbor's 18 categories, by form or "
            "column name."
        )
    by_category = "; ".join(
        f"{name.removeprefix(SAFE_HARBOR_FOUND).strip('()')}: {n:,.0f}"
        for name, n in figures.items()
        if name.startswith(f"{SAFE_HARBOR_FOUND}(")
    )
    has = "1 released cell has" if cells == 1 else f"{cells:,.0f} released cells have"
    return f"{has} a value of HIPAA Safe Harbor's 18 categories ({by_category})."


def _warnings(facts: Mapping[str, Any], audience: Audience) -> Iterator[str]:
    for one in facts["read"]:
        if one["unread"]:
            rows = share_of(one["unread"] / facts["rows"], facts["rows"], audience)
            yield (
                f"Column {one['column']}: the cells of {rows} of the rows could not be read, and "
                "are counted as released exactly."
            )
    for name, form in facts["pseudonyms"].items():
        yield (
            f"Column {name} has codes ({form}) that no hash without a secret of the original's "
            "identifiers gives. They are taken for a keyed hash or for pseudonyms. Anybody with "
            "the secret or the list can undo them, and they join every release that has them."
        )
    if facts["changed"]:
        yield (
            "Some columns have values that the original lacks or has less often. They did not help "
            f"to match rows: {join_names(facts['changed'])}."
        )
    if facts["strangers"]:
        yield (
            "Without a counterpart in the original, unless a value of these columns was changed: "
            f"{facts['strangers']} of the release."
        )
    if beyond := [name for name in facts["beyond"] if name not in facts["pseudonyms"]]:
        yield (
            "No figure counts the columns that are not quasi-identifiers and not kept by the "
            f"roles: {join_names(beyond)}."
        )
    if facts["not_released"]:
        yield f"Not released: {join_names(facts['not_released'])}."


def _summary(assessment: ReleaseAssessment, audience: Audience) -> Section:
    figures, people = assessment.figures, assessment.figures["subjects"]
    apart = min(figures["share_unique_with_kept"], 1.0)
    shown = (
        Figure(
            "Expected to be re-identified",
            f"{format_expected(figures['expected_matches'])} people",
            f"of {people:,.0f} in the release",
        ),
        highest_risk(figures["max_risk"]),
        Figure("Loss", share(figures["loss"]), NOTHING_LEFT),
        Figure(
            "Unique on all released columns",
            share_of(apart, people, audience),
            "of people for an adversary who also knows the columns released as they are",
        ),
    )
    said = Prose(in_short(assessment, audience))
    return Section("summary", "In short", (said, Figures(shown)), first=True)


def _synthetic_in_short(facts: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"The attacks use {facts['rows']:,} rows, described as synthetic or perturbed. They "
        f"compare {facts['original_rows']:,} rows of the original with people who were not in it. "
        "An equal result for both is knowledge about groups; only the difference is a leak.",
    )


def _reading(facts: Mapping[str, Any], audience: Audience) -> Section:
    rows = facts["rows"]
    cells = tuple(
        (one["column"], *(share_of(one[how] / max(rows, 1), rows, audience) for how in HOW))
        for one in facts["read"]
    )
    titles = ("column", *(READ[how] for how in HOW))
    grid = Grid(titles, cells, "How the cells of each column were read", (1, 2, 3, 4))
    said = [f"{rows:,} released rows, {facts['original_rows']:,} rows of the original."]
    if "boxes" in facts:
        matched = facts["matched_by"]
        said.append(
            f"Rows were matched by the column {matched}, which both have."
            if matched
            else "Rows were matched as sets: each released row to an original row that fits it."
        )
        said.append(
            f"The rows lie in {facts['boxes']:,} boxes of values, "
            + ("no two of which overlap." if facts["disjoint"] else "some of which overlap.")
        )
    return Section("reading", "How the release was read", (Prose(tuple(said)), grid))
