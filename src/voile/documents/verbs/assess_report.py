"""The report on texts that another tool redacted."""

from __future__ import annotations

from voile.documents.verbs.report import LIMITS
from voile.release.assessment import ReleaseAssessment
from voile.report.evidence_sections import evidence_sections
from voile.report.sections import Audience, Figure, Figures, Grid, Prose, Section, limits
from voile.report.wording import estimate, share, size

UNANNOTATED = (
    "Nobody annotated the original: how many identifiers are left is not known, only the "
    "lengths and the marks are."
)
KNOWN_ALONE = (
    "Nobody annotated the original: only its identifiers from the known tables are counted."
)
OWN_LIMITS = (
    "Replacements were found by aligning words. Where much was removed at once, a common word "
    "may be taken for left or for removed.",
    *LIMITS[:1],
    *LIMITS[2:],
)


def assessed_sections(assessment: ReleaseAssessment, *, audience: Audience) -> tuple[Section, ...]:
    """Describe the annotated identifiers that are left, and then the marks in the texts."""
    facts, figures = assessment.facts, assessment.figures
    said = [
        f"{size(figures['documents'], audience)} texts; "
        f"{share(figures['share_of_characters_left'])} of the original's characters are left.",
    ]
    shown: list[Figures] = []
    wholes = [
        one
        for attack in assessment.evidence
        for one in attack.findings
        if not one.of and one.rate.trials
    ]
    if wholes:
        values = [(one.quantity.capitalize(), *estimate(one.rate, audience)) for one in wholes]
        shown = [Figures(tuple(Figure(name, x, "", interval) for name, x, interval in values))]
        said += [f"{name}: {x}{interval and f' ({interval})'}." for name, x, interval in values]
    if not facts["annotated"]:
        said.append(KNOWN_ALONE if assessment.evidence else UNANNOTATED)
    marks = sorted(facts["marks"].items(), key=lambda one: -one[1])
    grid = Grid(
        ("mark", "times"),
        tuple((name, f"{count:,}") for name, count in marks),
        "Marks that stand 11 times or more",
        (1,),
        "internal",
    )
    met = tuple((name, f"{count:,}") for name, count in facts["met"].items())
    columns = Grid(("known column", "texts"), met, "Texts that hold its values", (1,), "internal")
    return (
        Section("summary", "In short", (Prose(tuple(said)), *shown), first=True),
        *([Section("known", "Known columns", (columns,))] if met else []),
        *evidence_sections(assessment.evidence, audience),
        *([Section("marks", "Marks", (grid,))] if marks else []),
        limits(OWN_LIMITS),
    )
