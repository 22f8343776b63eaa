"""The weights of Fellegi and Sunter (1969) under the hit-miss model of Copas and Hilton (1990).

A register column is wrong with probability e. If it is right ("hit"), the register and the release
agree. If it is wrong ("miss"), the register has the value of some other person who agrees in the
hits. Let Q(T) be the chance that a stranger agrees on at least the columns T. A pair that agrees on
exactly the columns S then has this likelihood ratio of one person to strangers:

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

TIED = 1 - 1e-9  # two products of the same ratios in another order differ by rounding only
ROWS_AT_ONCE = 4096

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RegisterGaps:
    """How often register entries lack each column: a person's own entry, and anybody's.

    `own` (2, q), in [0, 1], where the release shows the value and where it lacks it too;
    `anybody` (q,), in [0, 1].
    """

    own: Floats
    anybody: Floats

    def ratio(self, combinations: NDArray[np.int32], columns: tuple[int, ...]) -> Floats:
        """Return how much likelier (c,) a person's own entry has values in just these columns."""
        has = np.isin(np.arange(len(self.anybody)), columns)
        own = np.where(combinations < 0, self.own[1], self.own[0])
        usual = np.where(has, 1 - self.anybody, self.anybody)
        return np.asarray(np.prod(np.where(has, 1 - own, own) / usual, axis=1))


@dataclass(frozen=True)
class HitMiss:
    """The adversary's beliefs: error rate of each column, share of people in the register, gaps.

    Without `gaps`, a value that the register lacks says nothing.
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
    """The best candidates for each released combination (c,): likelihood ratio, ties, posterior.

    The posterior is that of one given of the `tied` entries, against all others and nobody.
    """

    ratio: Floats
    tied: NDArray[np.int64]
    posterior: Floats


def best_candidates(
    patterns: AgreementPatterns, chances: Floats, model: HitMiss, alike: NDArray[np.int64]
) -> BestCandidates:
    """Find, for each released combination, the best entries and their posterior.

    `chances` is (c, 2^q), how likely a stranger agrees on at least each set of columns; `alike`
    (c,) >= 1, the released subjects that show each combination. Cost: O(c 2^q) for each block.
    Exact up to rounding (ties within 1e-9); the posterior of one of several alike: `_of_one`.
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
    """Return the probability that one given of the best entries is one given subject's.

    `alike` subjects share `tied` best entries, and no entry is two people's. Consider all ways to
    give b of them an entry, each counted `weight`^b x `others`^(alike - b). The probability of a
    pair obeys f(n, k) = weight / (k weight + others v(n - 1)), v(n) = 1 / (1 - n f(n, k)), v(0) =
    1.

    This is its solution if v changes slowly, with n the smaller of the two numbers. (Exchanging
    both gives the same sum.) It is exact if one of them is 1, and within 3% of the sum elsewhere.
    """
    fewer, more = np.minimum(alike, tied), np.maximum(alike, tied)
    surplus = others - (more - fewer + 1) * weight
    unclaimed = (surplus + np.sqrt(surplus**2 + 4 * others * more * weight)) / 2
    whole = more * weight + unclaimed
    return np.asarray(weight / np.where(whole > 0, whole, 1))


def ratios(
    block: RegisterBlock, combinations: NDArray[np.int32], chances: Floats, model: HitMiss
) -> Floats:
    """Return the likelihood ratio of each pattern of a block's entries, (rows, 2 ** columns)."""
    return subset_sums(hits(block, combinations, model) / chances[:, block.sets])


def hits(block: RegisterBlock, combinations: NDArray[np.int32], model: HitMiss) -> Floats:
    """Return how likely a person's entry has the block's columns, exactly each set of them right.

    Over how likely anybody's entry has these columns.
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
    """Cut so many rows into slices that a table of their patterns fits in memory."""
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, rows, ROWS_AT_ONCE))
