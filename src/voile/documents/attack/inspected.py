"""What an attacker with a number of inspections found, as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from voile.documents.attack.ground import Ground
from voile.documents.attack.walks import Counts, Spread, Walk, at_random, spread
from voile.evidence import Curve, Evidence, Finding, Rate

POINTS = 25
"""Of a curve, beside the numbers of inspections that were asked for."""


@dataclass(frozen=True)
class InspectionEvidence(Evidence):
    """What was found within a number of inspections; see `Evidence`."""

    @property
    def curve(self) -> Curve:
        """Identifier tokens found against inspections; `curves` has the random draw beside it."""
        return self.curves[0]

    @property
    def true_positives(self) -> int:
        """Identifier tokens found at the largest number of inspections."""
        return round(self.curve.y[-1])

    def utility(self, miss_cost: float) -> float:
        """Return the adversary's utility, L for each identifier found (eq. 1)."""
        return miss_cost * self.true_positives


def curves_of(
    walks: Sequence[Walk], asked: Sequence[int], rng: np.random.Generator
) -> tuple[Curve, Curve]:
    """Draw what she finds, and what a random draw holds, up to the largest number asked."""
    even = np.linspace(0, max(asked), POINTS + 1).round().astype(np.int64)
    x = np.union1d(even, np.array(asked, dtype=np.int64))
    return _curve("attacker", x, spread(walks, x, rng)), _curve("random", x, at_random(walks, x))


def _curve(name: str, x: Counts, y: Spread) -> Curve:
    lines = (tuple(part.tolist()) for part in (y.mean, y.low, y.high))
    return Curve(name, "inspections", "identifiers found", tuple(map(float, x.tolist())), *lines)


def findings_of(
    ground: Ground, walks: Sequence[Walk], asked: Sequence[int], totals: dict[str, int]
) -> Iterator[Finding]:
    """Yield what was found at each number of inspections, then what is left, and of whom.

    Parameters
    ----------
    totals : tokens of each type in the source.
    """
    for number in sorted(asked, reverse=True):
        yield from _found(walks, number)
    yield from _subjects(walks, max(asked))
    yield from _types(ground, walks, max(asked), totals)


def _found(walks: Sequence[Walk], number: int) -> Iterator[Finding]:
    """Count at one number of inspections."""
    at = np.array([number])
    tp, random = _mean([w.found(at)[0] for w in walks]), at_random(walks, at).mean[0]
    tried, left = _mean([min(number, len(w)) for w in walks]), _mean([w.left for w in walks])
    yield Finding(
        f"identifiers found in {number:,} inspections",
        Rate(min(tp, tried), tried),
        baseline=Rate(min(round(random), tried), tried),
        meaning="Of the tokens that she inspects, the share that is part of an identifier.",
    )
    yield Finding(
        f"identifiers left that {number:,} inspections find",
        Rate(min(tp, left), left),
        baseline=Rate(min(round(random), left), left),
        meaning="Of the identifiers that sanitising has left, the share that she finds.",
    )


def _subjects(walks: Sequence[Walk], number: int) -> Iterator[Finding]:
    """Count the people who are left to be found, and who are."""
    people = _mean([len(np.unique(walk.subject)) for walk in walks])
    left = _mean([len(_named(walk, len(walk))) for walk in walks])
    found = _mean([len(_named(walk, number)) for walk in walks])
    yield Finding(
        "subjects with an identifier left",
        Rate(left, people),
        meaning="Of the people in the release, the share with a part of an identifier in it.",
    )
    yield Finding(
        f"subjects found in {number:,} inspections",
        Rate(found, people),
        baseline=Rate(_mean([_named_at_random(walk, number) for walk in walks]), people),
        meaning="Of the people in the release, the share of whom she finds at least one part of "
        "an identifier.",
    )


def _named(walk: Walk, number: int) -> Counts:
    """Return whose identifiers the first so many tokens hold."""
    return np.unique(walk.subject[:number][walk.types[:number] > 0])


def _named_at_random(walk: Walk, number: int) -> float:
    """Return how many subjects as many tokens drawn at random would name."""
    from scipy.stats import hypergeom

    left = np.unique(walk.subject[walk.types > 0], return_counts=True)[1]
    return float(hypergeom.sf(0, len(walk), left, min(number, len(walk))).sum())


def _types(
    ground: Ground, walks: Sequence[Walk], number: int, totals: dict[str, int]
) -> Iterator[Finding]:
    """Count by type what is left of the source's, and what she finds of that."""
    subject = np.repeat(ground.subject, np.diff(ground.examples.first))
    release = Walk(ground.types, subject).types[ground.tokens_of(ground.attacked)]
    for label, total in totals.items():
        kind = ground.labels.index(label) + 1 if label in ground.labels else -1
        remains = int((release == kind).sum())
        yield Finding(
            f"identifiers left, {label}",
            Rate(remains, max(total, remains)),
            meaning="Of the tokens of this type in the source, the share that is still there.",
        )
        left = _mean([(walk.types == kind).sum() for walk in walks])
        found = _mean([(walk.types[:number] == kind).sum() for walk in walks])
        yield Finding(
            f"identifiers left that {number:,} inspections find, {label}",
            Rate(min(found, left), left),
            meaning="Of the tokens of this type that are left, the share that she finds.",
        )


def _mean(counts: Sequence[float]) -> int:
    """Return the average over walks, a whole number so that a rate keeps its counts."""
    return round(float(np.mean(counts)))
