"""Describe a verdict in words and figures, for evidence, report and manifests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.documents.acceptance.plan import AcceptanceGoal
from voile.documents.acceptance.reading import AcceptanceVerdict
from voile.release.evidence import READ

IF_AS_WELL = "if readers see real ones as well as planted ones"
IF_ALL = "if readers miss none"
STORY = (
    "Readers saw the likeliest identifiers left, by the classifiers' ranking, and words drawn "
    "at random from all others. Each word was shown in its line, without proposals. The "
    "identifiers found were removed from the release. The release was not fitted again."
)


@dataclass(frozen=True)
class AcceptanceCertificate:
    """The description of a verdict.

    sentence : the proved bound, or the statement that nothing was proved.
    evidence : the evidence for the report.
    public : the data for the manifest that accompanies the release.
    """

    sentence: str
    evidence: Evidence
    public: Mapping[str, Any]


def certificate(
    verdict: AcceptanceVerdict, goal: AcceptanceGoal, subjects: int, *, as_hard: bool
) -> AcceptanceCertificate:
    """Describe the proof of a reading.

    If at most n identifiers are left, at most n subjects have one left. This bounds the share of
    subjects with an identifier left.

    Parameters
    ----------
    subjects : the number of subjects in the release.
    as_hard : whether the committee itself would have missed all seeded identifiers.
    """
    condition = "" if verdict.planted and as_hard else IF_AS_WELL if verdict.planted else IF_ALL
    people = min(verdict.allowed, subjects)
    asked = {
        "at_most": goal.shown_limit,
        "per": goal.per,
        "sure": goal.confidence,
        "read": verdict.read,
    }
    if verdict.accepted:
        claim = Note(
            "Proved: at most {at_most} identifiers are left per {per:,} tokens, with {sure:.0%} "
            "confidence, from {read:,} tokens read" + f"; {condition}" * bool(condition) + ". That "
            "is at most {allowed} among the {tokens:,} tokens of this release; at most {people} of "
            "{subjects} subjects ({share:.1%}) have one left.",
            {
                **asked,
                "allowed": verdict.allowed,
                "tokens": verdict.tokens,
                "people": people,
                "subjects": subjects,
                "share": people / max(subjects, 1),
            },
        )
    else:
        claim = Note(
            "Not proved: at most {at_most} identifiers left per {per:,} tokens, with "
            "{sure:.0%} confidence. In {read:,} tokens read, more identifiers were found than "
            "the goal allows. They are removed. Another try reads a new sample.",
            asked,
        )
    notes = (claim, *_notes(verdict))
    evidence = Evidence(READ, "singling out", Note(STORY), (), tuple(_findings(verdict)), (), notes)
    public = {
        "at_most": goal.shown_limit,
        "per": goal.per,
        "confidence": goal.confidence,
        "tokens_read": verdict.read,
        "tokens": verdict.tokens,
        "identifiers_at_most": verdict.allowed,
        "share_of_subjects_at_most": min(round(people / max(subjects, 1) + 5e-4, 3), 1.0),
        "condition": condition,
    }
    return AcceptanceCertificate(claim.text.format(**claim.values), evidence, public)


def _findings(verdict: AcceptanceVerdict) -> Iterator[Finding]:
    """Yield the counts of the likeliest tokens and of the random sample."""
    yield Finding(
        "identifiers among the likeliest tokens",
        Rate(verdict.census_found, verdict.census),
        meaning="The likeliest tokens, all read. The identifiers found in them were removed.",
    )
    yield Finding(
        "identifiers in the random sample",
        Rate(verdict.sample_found, verdict.sample),
        meaning="Tokens drawn at random from all others. The identifiers found in them were "
        "removed.",
    )
    if verdict.planted:
        yield Finding(
            "planted identifiers found",
            Rate(verdict.seen, verdict.planted),
            meaning="Identifiers planted on the screens to measure the readers.",
        )


def _notes(verdict: AcceptanceVerdict) -> Iterator[Note]:
    text = "About {left:.1f} identifiers are estimated to be left."
    yield Note(text, {"left": max(verdict.expected_left, 0.0)})
    if verdict.planted:
        yield Note(
            "Readers find at least {recall:.1%} of identifiers, as far as the planted ones "
            "show. The proof counts the identifiers that they may have missed.",
            {"recall": verdict.recall},
        )
    if verdict.number > 1:
        text = "This was try {number}; all tries together are wrong as seldom as one would be."
        yield Note(text, {"number": verdict.number})
