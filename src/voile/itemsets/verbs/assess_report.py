"""The report's section on sparse rows that voile did not release."""

from __future__ import annotations

from voile.itemsets.verbs.report import LIMITS, TAKES
from voile.release.assessment import ReleaseAssessment
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import Audience, Figure, Figures, Grid, Prose, Section, limits
from voile.report.suppression import FEW, is_few
from voile.report.wording import join_names, share, share_of


def assessed_sections(assessment: ReleaseAssessment, *, audience: Audience) -> tuple[Section, ...]:
    """Return sections on the smallest groups before and after the release, and on the attacks."""
    facts, figures = assessment.facts, assessment.figures
    before, rows = facts["before"], figures["rows"]
    said = [
        f"At least {_few(figures['anonymity'], audience)} people share all items of any released "
        f"row; {_few(before['anonymity'], audience)} in the original.",
        f"Of {before['features']:,} features {figures['features']:,.0f} remain "
        f"({share(figures['features_lost'])} are gone).",
    ]
    if facts["beyond"]:
        said.append(
            f"Columns {join_names(facts['beyond'])} are not items of the roles, and were "
            "not counted."
        )
    shown = (
        Figure("People who share a row's items, at least", _few(figures["anonymity"], audience)),
        Figure(
            "Unique rows",
            share_of(figures["unique_share"], rows, audience),
            "for an adversary who also knows which items a person lacks",
        ),
    )
    grid = Grid(
        ("measure", "original", "release"),
        (
            ("rows", f"{facts['original_rows']:,}", f"{rows:,.0f}"),
            (
                "k by containment",
                _few(before["anonymity"], audience),
                _few(figures["anonymity"], audience),
            ),
            (
                "unique rows",
                share_of(before["unique_rows"] / facts["original_rows"], rows, audience),
                share_of(figures["unique_share"], rows, audience),
            ),
        ),
        "The original, and the release",
        (1, 2),
    )
    return (
        Section("summary", "In short", (Prose(tuple(said)), Figures(shown), grid), first=True),
        *evidence_sections(assessment.evidence, audience, takes=TAKES),
        limits(LIMITS[:1] + LIMITS[2:]),
    )


def _few(count: float, audience: Audience) -> str:
    return f"fewer than {FEW}" if audience == "public" and is_few(count) else f"{count:,.0f}"
