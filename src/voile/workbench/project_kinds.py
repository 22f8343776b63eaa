"""The differences between kinds of data on the page: roles, limits, criteria, axes and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Rule = tuple[str, str, tuple[str, ...]]
LEAST: Rule = ("Least loss", "within your limits", ("--least-loss",))
KNEE: Rule = ("The knee", "where the curve bends most", ("--knee",))
DROPPED = {
    "identifier": ("identifies a person", "never leaves"),
    "drop": ("drop", "never leaves"),
    "keep": ("keep as it is", "leaves as it is; may single people out"),
}
"""The roles that every kind has, with their words and the treatment of the column."""


@dataclass(frozen=True, kw_only=True)
class ProjectKind:
    """The page's texts and options for one kind of data.

    Parameters
    ----------
    label : the name on the Data step.
    release : the name of the released file.
    roles : the words of each role, and the treatment of its column.
    has_groups : whether `fit` takes a population and group limits, and `attack` a register.
    has_notes : whether the project has lookup tables of names, and people review voile's proposals.
    is_study : whether the data has parts, each with a kind of its own.
    criteria : the criteria of the decision that need a threshold.
    apply : additional words of `apply`.
    figures : the names of the three figures of a policy.
    slider : the label of the slider.
    axis, axis_title : the figure on the horizontal axis, and its title.
    is_log : whether the axis is logarithmic.
    rules : the rules for choosing a policy: label, sentence and words.
    """

    label: str
    release: str
    roles: Mapping[str, tuple[str, str]]
    has_groups: bool = False
    has_notes: bool = False
    is_study: bool = False
    criteria: tuple[str, ...]
    apply: tuple[str, ...] = ()
    figures: tuple[str, str, str]
    slider: str = "Policy, from least risk to least loss"
    axis: str
    axis_title: str
    is_log: bool = False
    rules: Mapping[str, Rule] = field(default_factory=dict)


KINDS: Mapping[str, ProjectKind] = {
    "tables": ProjectKind(
        label="table: one row for each person or visit",
        release="release.csv",
        roles={
            "quasi": ("others may know it", "leaves as intervals"),
            "sensitive": ("sensitive", "leaves as it is; attacked"),
            **DROPPED,
            "weight": ("weight", "leaves as it is"),
        },
        has_groups=True,
        criteria=(
            "re-identification",
            "singling-out",
            "linkability",
            "inference",
            "kept-columns",
        ),
        apply=("--no-pseudonyms",),
        figures=("Expected to be re-identified", "Riskiest record", "Information loss"),
        axis="expected_matches",
        axis_title="people expected to be re-identified",
        is_log=True,
        rules={
            "least-loss": LEAST,
            "risk-100": ("No record above 1 in 100", "then the least loss", ("--max-risk", "0.01")),
            "risk-1000": (
                "No record above 1 in 1,000",
                "then the least loss",
                ("--max-risk", "0.001"),
            ),
            "knee": KNEE,
            "safe-harbor": ("Beats Safe Harbor", "in risk and in loss", ("--beats", "safe-harbor")),
        },
    ),
    "itemsets": ProjectKind(
        label="items: purchases, diagnoses or words of each person",
        release="release.parquet",
        roles={
            "items": ("items", "the chosen items leave"),
            "label": ("to be predicted", "leaves as it is"),
            **DROPPED,
        },
        criteria=("re-identification", "singling-out", "inference"),
        figures=("Riskiest person", "Items that leave", "Information loss"),
        axis="risk",
        axis_title="highest risk of a person",
        is_log=True,
        rules={
            "least-loss": LEAST,
            "risk-11": ("No person above 1 in 11", "then the least loss", ("--max-risk", "0.09")),
            "knee": KNEE,
        },
    ),
    "signals": ProjectKind(
        label="readings: sent to a recipient who knows each person's class",
        release="release.csv",
        roles={
            "reading": ("reading", "leaves as a message"),
            "private": ("the class to hide", "never leaves"),
            "known": ("others may know it", "does not leave"),
            **DROPPED,
        },
        criteria=("re-identification", "inference"),
        apply=("--no-pseudonyms",),
        figures=("Share of the class revealed", "Information about the class", "Distortion"),
        axis="risk",
        axis_title="share of the class that messages reveal",
        rules={
            "least-loss": LEAST,
            "leak-10": (
                "At most 10% of the leakage",
                "then the least loss",
                ("--max-relative-risk", "0.1"),
            ),
            "knee": KNEE,
        },
    ),
    "documents": ProjectKind(
        label="notes: free text about people",
        release="release.csv",
        roles={
            "text": ("notes", "leaves without identifiers"),
            "label": ("marks of identifiers", "never leaves; voile learns from it"),
            **DROPPED,
        },
        has_notes=True,
        criteria=(
            "re-identification",
            "singling-out",
            "linkability",
            "inference",
            "text-left",
            "kept-columns",
        ),
        figures=("Identifiers that stay", "Harmless words removed", "Words published"),
        slider="Cost of a missed identifier, in harmless words",
        axis="risk",
        axis_title="share of the known identifiers that stay",
        rules={
            "few-left": (
                "At most 10% of identifiers stay",
                "then the least loss",
                ("--max-relative-risk", "0.1"),
            ),
            "few-lost": (
                "At most 1% of harmless words removed",
                "then the fewest identifiers",
                ("--max-loss", "0.01"),
            ),
            "knee": KNEE,
        },
    ),
    "study": ProjectKind(
        label="study: a folder of tables and notes of the same people",
        release="study.release",
        roles={},
        is_study=True,
        criteria=(
            "re-identification",
            "singling-out",
            "linkability",
            "inference",
            "text-left",
            "kept-columns",
        ),
        figures=("Expected matches, all parts", "Expected matches, the table", "Information loss"),
        axis="joint",
        axis_title="people expected to be re-identified, over all parts",
        is_log=True,
        rules={
            "least-loss": ("Least loss", "within the plan's limits", ()),
            "risk-100": ("No record above 1 in 100", "then the least loss", ()),
            "knee": ("The knee", "where the curve bends most", ()),
        },
    ),
}
