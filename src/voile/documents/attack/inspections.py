"""Order the tokens for inspection, and count the identifiers found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voile.core.evidence import Rate
from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.predictions import ClassifierPrediction

Order = Literal["margin", "paper", "negatives"]
Counts = NDArray[np.int64]


def inspection_order(margins: NDArray[np.float64], order: str, rng: np.random.Generator) -> Counts:
    """Return the order of inspection, a permutation, with ties in random order."""
    rank = {"margin": -margins, "paper": margins <= 0, "negatives": margins > 0}[order]
    return np.lexsort((rng.random(len(margins)), rank)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class InspectionOrder:
    """The tokens of a release, without marks, in the order of inspection."""

    types: NDArray[np.int16]  # (n,) the type of identifier of each token, 0 for none
    subject: NDArray[np.intp]  # (n,) the subject of each token

    @classmethod
    def of(
        cls, ground: AttackText, look: ClassifierPrediction, order: str, rng: np.random.Generator
    ) -> InspectionOrder:
        here = ground.tokens_of(look.documents)
        kept = ground.examples.counted[here]
        way = inspection_order(look.margins[kept], order, rng)
        subject = np.repeat(ground.subject, np.diff(ground.examples.first))
        return cls(ground.types[here][kept][way], subject[here][kept][way])

    def __len__(self) -> int:
        return len(self.types)

    @property
    def is_identifier(self) -> NDArray[np.bool_]:
        """Which tokens are part of an identifier, as a mask (n,)."""
        return self.types > 0

    def is_among(self, number: int) -> NDArray[np.bool_]:
        """Return which tokens are among the first `number`, as a mask (n,)."""
        return np.arange(len(self)) < number

    @cached_property
    def identifier_count(self) -> int:
        return int(self.is_identifier.sum())

    def count_found(self, inspections: Counts) -> Counts:
        """Count the identifiers among the first tokens, for each number of inspections."""
        total = np.concatenate([[0], np.cumsum(self.is_identifier)])
        return np.asarray(total[np.minimum(inspections, len(self))], dtype=np.int64)


def rate_of(walks: Iterable[tuple[NDArray[np.intp], NDArray[np.bool_], NDArray[np.bool_]]]) -> Rate:
    """Return the average rate of hits among trials, clustered by subject.

    Each item is (subject, hit, trial) of one walk.
    """
    counted = [(subject[trial & hit], subject[trial]) for subject, hit, trial in walks]
    people = max((int(tried.max(initial=-1)) for _, tried in counted), default=-1) + 1
    counts = np.mean([[np.bincount(x, minlength=people) for x in pair] for pair in counted], axis=0)
    return Rate.from_clusters(*counts.tolist())


def average_found(walks: Sequence[InspectionOrder], inspections: Counts) -> MeanWithInterval:
    """Return the average number of finds, with a 95% interval clustered by subject."""
    mean = np.mean([walk.count_found(inspections) for walk in walks], axis=0)
    ends = [
        np.array(found.interval()) * found.trials
        for found in (
            rate_of((w.subject, w.is_identifier, w.is_among(number)) for w in walks)
            for number in inspections.tolist()
        )
    ]
    low, high = np.array(ends).T
    return MeanWithInterval(mean, np.minimum(low, mean), np.maximum(high, mean))


@dataclass(frozen=True, eq=False)
class MeanWithInterval:
    """Means with their 95% intervals, as arrays of one length."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def expect_at_random(walks: Sequence[InspectionOrder], inspections: Counts) -> MeanWithInterval:
    """Return the expected finds among as many random tokens: exact, hypergeometric."""
    from scipy.stats import hypergeom

    tokens, left = (
        round(float(np.mean(part))) for part in zip(*map(count_tokens, walks), strict=True)
    )
    drawn = np.minimum(inspections, tokens)
    mean = drawn * (left / max(tokens, 1))
    low, high = hypergeom.interval(0.95, tokens, left, drawn) if tokens else (mean, mean)
    return MeanWithInterval(mean, low, high)


def count_tokens(walk: InspectionOrder) -> tuple[int, int]:
    return len(walk), walk.identifier_count
