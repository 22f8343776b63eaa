"""Compute Fellegi-Sunter weights (1969) under the hit-miss model of Copas and Hilton (1990).

A value of a register column is wrong with probability e. If it is right (a hit), the register and
the release agree. If it is wrong (a miss), the register has the value of some other person who
agrees in the hits. Let Q(T) be the probability that a stranger agrees on at least the columns T.
Consider a pair that agrees on exactly the columns S. Its likelihood ratio of one person to
strangers is:

  sum over T inside S of (product over T of 1 - e) (product over the others of e) / Q(T).

For independent columns this is the product, column by column, of m / u and e of Fellegi and Sunter.
A column that is missing on either side is in neither product. A missing column is evidence only if
a person's own entry lacks it more or less often than other entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.attack.patterns import AgreementPatterns, RegisterBlock, subset_sums

TIED = 1 - 1e-9  # equal products differ by rounding errors if their factors are in another order
ROWS_AT_ONCE = 4096

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RegisterGaps:
    """How often register entries lack each column: a person's own entry, and any entry.

    Attributes
    ----------
    own : (2, q) in [0, 1]. Row 0 applies if the release has the value, row 1 if the release lacks
        it too.
    anybody : (q,) in [0, 1].
    """

    own: Floats
    anybody: Floats

    def ratio(self, combinations: NDArray[np.int32], columns: tuple[int, ...]) -> Floats:
        """Return how much likelier (c,) a person's own entry has exactly these columns."""
        has = np.isin(np.arange(len(self.anybody)), columns)
        own = np.where(combinations < 0, self.own[1], self.own[0])
        usual = np.where(has, 1 - self.anybody, self.anybody)
        return np.asarray(np.prod(np.where(has, 1 - own, own) / usual, axis=1))


@dataclass(frozen=True)
class HitMiss:
    """The adversary's beliefs: error rate of each column, share of people in the register, gaps.

    Without `gaps`, a missing value of the register is no evidence.
    """

    errors: Floats
    share: float
    gaps: RegisterGaps | None = None

    def __post_init__(self) -> None:
        if not (np.all(self.errors >= 0) and np.all(self.errors <= 1)):
            raise RequestError(
                "an error rate is not in [0, 1]", instead="give the share of wrong values"
            )
        if not 0 <= self.share <= 1:
            raise RequestError(
                f"a share of {self.share} of the release's people in the register",
                instead="give one in [0, 1]",
            )


@dataclass(frozen=True)
class BestCandidates:
    """The best candidates for each released combination (c,).

    Attributes
    ----------
    ratio : the largest likelihood ratio.
    tied : the number of entries with that ratio.
    posterior : the probability of one given entry of them, compared with all other entries and with
        no entry.
    """

    ratio: Floats
    tied: NDArray[np.int64]
    posterior: Floats


def best_candidates(
    patterns: AgreementPatterns, chances: Floats, model: HitMiss, alike: NDArray[np.int64]
) -> BestCandidates:
    """Find the best entries for each released combination, and their posterior.

    `chances` is (c, 2^q), the probability that a stranger agrees on at least each set of columns.
    `alike` (c,) >= 1 is the number of released subjects with each combination. Cost: O(c 2^q) for
    each block. Exact up to rounding (ties within 1e-9). The posterior of one of several equal
    entries is that of `_of_one`.
    """
    c = len(patterns.combinations)
    ratio, tied, total = np.zeros(c), np.zeros(c, dtype=np.int64), np.zeros(c)
    for block in patterns.blocks:
        for rows in pieces(c):
            counts = block.counts[rows]
            table = ratios(block, patterns.combinations[rows], chances[rows], model)
            top = np.max(table, axis=1, where=counts > 0, initial=0.0)
            joint = np.maximum(top, ratio[rows])
            at_top = np.sum(counts, axis=1, where=table >= joint[:, None] * TIED, dtype=np.int64)
            tied[rows] = at_top + np.where(ratio[rows] >= joint * TIED, tied[rows], 0)
            ratio[rows] = joint
            total[rows] += (counts * table).sum(axis=1)
    prior = model.share / max(patterns.entries, 1)
    others = (1 - model.share) + prior * np.maximum(total - tied * ratio, 0)
    return BestCandidates(ratio, tied, _of_one(prior * ratio, tied, alike, others))


def _of_one(
    weight: Floats, tied: NDArray[np.int64], alike: NDArray[np.int64], others: Floats
) -> Floats:
    """Return the probability that a given one of the best entries is a given subject's.

    `alike` subjects share `tied` best entries, and no entry belongs to two people. Consider all
    ways to give b of the subjects an entry, each with the weight `weight`^b x `others`^(alike - b).
    The probability of a pair obeys f(n, k) = weight / (k weight + others v(n - 1)), v(n) = 1 / (1 -
    n f(n, k)), v(0) = 1.

    The function returns the solution for a slowly changing v, where n is the smaller of the two
    numbers. (Exchanging both numbers gives the same sum.) The solution is exact if one of them is
    1, and otherwise within 3% of the sum.
    """
    fewer, more = np.minimum(alike, tied), np.maximum(alike, tied)
    surplus = others - (more - fewer + 1) * weight
    unclaimed = (surplus + np.sqrt(surplus**2 + 4 * others * more * weight)) / 2
    whole = more * weight + unclaimed
    return np.asarray(weight / np.where(whole > 0, whole, 1))


def ratios(
    block: RegisterBlock, combinations: NDArray[np.int32], chances: Floats, model: HitMiss
) -> Floats:
    """Return the likelihood ratio of each agreement pattern of a block, (rows, 2 ** columns)."""
    return subset_sums(hits(block, combinations, model) / chances[:, block.sets])


def hits(block: RegisterBlock, combinations: NDArray[np.int32], model: HitMiss) -> Floats:
    """Return the probability that a person's entry is right in exactly each set of columns.

    The entry has the block's columns. If gaps are known, the probability is divided by that of any
    entry having these columns.
    """
    likely = np.ones((len(combinations), 1))
    if model.gaps is not None:
        likely = model.gaps.ratio(combinations, block.columns)[:, None]
    for j in block.columns:
        known, error = combinations[:, j, None] >= 0, model.errors[j]
        right, wrong = np.where(known, 1 - error, 0.0), np.where(known, error, 1.0)
        likely = np.hstack([likely * wrong, likely * right])
    return likely


def pieces(rows: int) -> Iterator[slice]:
    """Return slices of the rows that are short enough for a table of patterns to fit in memory."""
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, rows, ROWS_AT_ONCE))
