"""Inspect tokens in an order, and count what is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from voile.documents.attack.ground import Ground
from voile.documents.attack.labels import Look
from voile.evidence import Rate

Order = Literal["margin", "paper", "negatives"]
DRAWS = 200
"""Times that subjects are drawn anew for an interval."""

Counts = NDArray[np.int64]


def order_of(margins: NDArray[np.float64], order: str, rng: np.random.Generator) -> Counts:
    """Return the order in which tokens are inspected, a permutation; equals come at random.

    Parameters
    ----------
    margins : (n,) above 0 where the classifier says identifier.
    order : ``margin``, the highest first; ``paper``, predicted identifiers first; ``negatives``,
        predicted identifiers last, the adversary of Lemma 2.
    """
    rank = {"margin": -margins, "paper": margins <= 0, "negatives": margins > 0}[order]
    return np.lexsort((rng.random(len(margins)), rank)).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Walk:
    """The tokens of a release that are no marks, in the order in which she inspects them.

    Parameters
    ----------
    types : (n,) the type of identifier that each is part of, 0 of none.
    subject : (n,) whose each is.
    """

    types: NDArray[np.int16]
    subject: NDArray[np.intp]

    @classmethod
    def of(cls, ground: Ground, look: Look, order: str, rng: np.random.Generator) -> Walk:
        """Walk through what was looked at."""
        here = ground.tokens_of(look.documents)
        kept = ground.examples.counted[here]
        way = order_of(look.margins[kept], order, rng)
        subject = np.repeat(ground.subject, np.diff(ground.examples.first))
        return cls(ground.types[here][kept][way], subject[here][kept][way])

    def __len__(self) -> int:
        return len(self.types)

    @cached_property
    def left(self) -> int:
        """How many tokens are part of an identifier."""
        return int((self.types > 0).sum())

    def found(self, inspections: Counts) -> Counts:
        """Count the identifiers among the first so many tokens, for each number."""
        total = np.concatenate([[0], np.cumsum(self.types > 0)])
        return np.asarray(total[np.minimum(inspections, len(self))], dtype=np.int64)

    def drawn(self, inspections: Counts, times: int, rng: np.random.Generator) -> Counts:
        """Count the same with subjects drawn anew, with replacement: (times, inspections)."""
        people, whose = np.unique(self.subject, return_inverse=True)
        hits, n = self.types > 0, len(people)
        found = np.zeros((times, len(inspections)), dtype=np.int64)
        for row in found if n else ():
            weight = np.bincount(rng.integers(n, size=n), minlength=n)[whose]
            seen = np.concatenate([[0], np.cumsum(weight)])
            total = np.concatenate([[0], np.cumsum(weight * hits)])
            row[:] = total[np.minimum(np.searchsorted(seen, inspections), len(self))]
        return np.minimum(found, inspections)


def spread(walks: Sequence[Walk], inspections: Counts, rng: np.random.Generator) -> Spread:
    """Return what is found, on average over the walks, and within which 95% interval.

    The interval is the wider of two: of the walks with their subjects drawn anew, since a
    subject's names stand or fall together, and Wilson's, for which tokens are on their own but
    which does not end at 0 where nothing was found.
    """
    times = -(-DRAWS // len(walks))
    told = np.concatenate([walk.drawn(inspections, times, rng) for walk in walks])
    low, high = np.quantile(told, (0.025, 0.975), axis=0)
    mean = np.mean([walk.found(inspections) for walk in walks], axis=0)
    tried = np.minimum(inspections, round(float(np.mean([len(walk) for walk in walks]))))
    for x, (found, n) in enumerate(zip(mean, tried.tolist(), strict=True)):
        ends = Rate(min(round(found), n), n).interval()
        low[x] = min(low[x], ends[0] * n, found)
        high[x] = max(high[x], ends[1] * n, found)
    return Spread(mean, low, high)


@dataclass(frozen=True, eq=False)
class Spread:
    """A mean with its interval, each of one length."""

    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def at_random(walks: Sequence[Walk], inspections: Counts) -> Spread:
    """Return what as many tokens drawn at random hold: exact, hypergeometric."""
    from scipy.stats import hypergeom

    tokens, left = (round(float(np.mean(part))) for part in zip(*map(sizes, walks), strict=True))
    drawn = np.minimum(inspections, tokens)
    mean = drawn * (left / max(tokens, 1))
    low, high = hypergeom.interval(0.95, tokens, left, drawn) if tokens else (mean, mean)
    return Spread(mean, low, high)


def sizes(walk: Walk) -> tuple[int, int]:
    """Return its tokens, and those of them that are part of an identifier."""
    return len(walk), walk.left
