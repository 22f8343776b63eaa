"""Describe the finds of an adversary with a number of inspections as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from voile.core.evidence import Count, Curve, Evidence, Finding, Note, Rate
from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.inspections import (
    Counts,
    InspectionOrder,
    MeanWithInterval,
    average_found,
    expect_at_random,
    rate_of,
)
from voile.documents.model.quantities import FOUND, LEFT

POINTS = 25
"""The points of a curve, in addition to the requested numbers of inspections."""


@dataclass(frozen=True)
class InspectionEvidence(Evidence):
    """The identifiers found within a number of inspections; see `Evidence`."""

    @property
    def curve(self) -> Curve:
        """The identifier tokens found, by inspections; `curves` also contains the random draw."""
        return self.curves[0]

    @property
    def true_positives(self) -> int:
        """The identifier tokens found at the largest number of inspections."""
        return round(self.curve.y[-1])

    def utility(self, miss_cost: float) -> float:
        """Return the adversary's utility, L for each identifier found (eq. 1)."""
        return miss_cost * self.true_positives


def draw_curves(walks: Sequence[InspectionOrder], asked: Sequence[int]) -> tuple[Curve, Curve]:
    even = np.linspace(0, max(asked), POINTS + 1).round().astype(np.int64)
    x = np.union1d(even, np.array(asked, dtype=np.int64))
    return _curve("adversary", x, average_found(walks, x)), _curve(
        "random", x, expect_at_random(walks, x)
    )


def _curve(name: str, x: Counts, y: MeanWithInterval) -> Curve:
    lines = (tuple(part.tolist()) for part in (y.mean, y.low, y.high))
    return Curve(name, "inspections", "identifiers found", tuple(map(float, x.tolist())), *lines)


def find_all(
    ground: AttackText,
    walks: Sequence[InspectionOrder],
    asked: Sequence[int],
    totals: Mapping[str, Counts],
) -> Iterator[Finding]:
    """Yield the finds at each number of inspections, then those by subject and by type."""
    for number in sorted(asked, reverse=True):
        yield from _report_inspections(walks, number)
    yield from _subjects(walks, max(asked))
    yield from _types(ground, walks, max(asked), totals)


def _report_inspections(walks: Sequence[InspectionOrder], number: int) -> Iterator[Finding]:
    random = expect_at_random(walks, np.array([number])).mean[0]
    inspected = rate_of((w.subject, w.is_identifier, w.is_among(number)) for w in walks)
    left = rate_of((w.subject, w.is_among(number), w.is_identifier) for w in walks)
    yield Finding(
        FOUND,
        inspected,
        baseline=_round_expectation(random, inspected),
        meaning="The share of the inspected tokens that are part of an identifier.",
        at=_inspections(number),
    )
    yield Finding(
        "identifiers left that are found",
        left,
        baseline=_round_expectation(random, left),
        meaning="The share of the identifier tokens left that the adversary finds.",
        at=_inspections(number),
    )


def _inspections(number: int) -> Note:
    """Return the condition. Its count may reveal the number of identifiers left."""
    return Note("{inspections} inspections", {"inspections": Count(number)})


def _round_expectation(successes: float, of: Rate) -> Rate:
    """Return an expectation as a rate with whole numbers."""
    return Rate(min(round(successes), of.trials), of.trials)


def _subjects(walks: Sequence[InspectionOrder], number: int) -> Iterator[Finding]:
    """Count the people with identifiers left, and those found. Each trial is a subject."""
    people = _mean([len(np.unique(walk.subject)) for walk in walks])
    left = _mean([len(_count_subjects(walk, len(walk))) for walk in walks])
    found = _mean([len(_count_subjects(walk, number)) for walk in walks])
    yield Finding(
        "subjects with an identifier left",
        Rate(left, people),
        meaning="The share of the people in the release with an identifier left.",
    )
    yield Finding(
        "subjects found",
        Rate(found, people),
        baseline=Rate(_mean([_named_at_random(walk, number) for walk in walks]), people),
        meaning="The share of the people in the release of whom the adversary finds an identifier.",
        at=_inspections(number),
    )


def _count_subjects(walk: InspectionOrder, number: int) -> Counts:
    return np.unique(walk.subject[walk.is_among(number) & walk.is_identifier])


def _named_at_random(walk: InspectionOrder, number: int) -> float:
    """Return the expected number of subjects found by the same number of random tokens."""
    from scipy.stats import hypergeom

    left = np.unique(walk.subject[walk.is_identifier], return_counts=True)[1]
    return float(hypergeom.sf(0, len(walk), left, min(number, len(walk))).sum())


def _types(
    ground: AttackText, walks: Sequence[InspectionOrder], number: int, totals: Mapping[str, Counts]
) -> Iterator[Finding]:
    attacked = ground.tokens_of(ground.attacked)
    types = ground.types[attacked]
    subject = np.repeat(ground.subject, np.diff(ground.examples.first))[attacked]
    for label, total in totals.items():
        kind = ground.labels.index(label) + 1 if label in ground.labels else -1
        remains = np.bincount(subject[types == kind], minlength=len(total))
        yield Finding(
            LEFT,
            Rate.from_clusters(remains.tolist(), np.maximum(total, remains).tolist()),
            meaning="The share of the source's tokens of this type that are left.",
            of=label,
        )
        yield Finding(
            "identifiers left that are found",
            rate_of((w.subject, w.is_among(number), w.types == kind) for w in walks),
            meaning="The share of the tokens left of this type that the adversary finds.",
            of=label,
            at=_inspections(number),
        )


def _mean(counts: Sequence[float]) -> int:
    """Return the average as a whole number, so that a rate keeps its counts."""
    return round(float(np.mean(counts)))
