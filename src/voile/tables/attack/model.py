"""The weights of Fellegi and Sunter (1969) under the hit-miss model of Copas and Hilton (1990).

A register column is wrong with probability e. Where it is right ("hit") the register and the
release agree; where it is wrong ("miss") the released value is as that of any person in the
register, of frequency u. So a pair of one person agrees on a value with m = (1 - e) + e u, a
pair of two with u, and the likelihood ratios are m / u for agreement and (1 - m) / (1 - u) = e
for disagreement; a column that is missing on either side says nothing (ratio 1). Their log2 are
the agreement weights, and a sum of weights is a product of ratios.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.errors import RequestError
from voile.tables.attack.patterns import Block, Patterns

TIED = 1 - 1e-9  # two products of the same ratios in another order differ by rounding only
ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class HitMiss:
    """What the adversary believes of her register.

    Parameters
    ----------
    errors : (q,) float64 in [0, 1], the chance that a column of the register is wrong.
    share : in [0, 1], the chance that a person of the release is in the register at all.
    """

    errors: NDArray[np.float64]
    share: float

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
class Best:
    """Her best candidates for each released combination (arrays of length c).

    Parameters
    ----------
    ratio : the largest likelihood ratio of an entry, 2 ** (its sum of weights).
    tied : int64, entries that reach it.
    posterior : in [0, 1], the probability that one given of the tied entries is the person,
        against all other entries and against nobody in the register.
    """

    ratio: NDArray[np.float64]
    tied: NDArray[np.int64]
    posterior: NDArray[np.float64]


def ratios(
    patterns: Patterns, errors: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the likelihood ratios of agreement and of disagreement, each (c, q)."""
    u = patterns.frequency
    known = patterns.combinations >= 0
    agree = np.where(u > 0, (1 - errors) / np.where(u > 0, u, 1) + errors, 1.0)
    return agree, np.where(known, errors, 1.0)


def best_candidates(patterns: Patterns, model: HitMiss) -> Best:
    """Find, for each released combination, the best entries and their posterior.

    Cost: O(c 2^q) for each block. Exact up to rounding (ties within 1e-9).
    """
    c = len(patterns.combinations)
    agree, disagree = ratios(patterns, model.errors)
    ratio, tied, total = np.zeros(c), np.zeros(c, dtype=np.int64), np.zeros(c)
    for block in patterns.blocks:
        for rows, table in _tables(block, agree, disagree):
            counts = block.counts[rows]
            top = np.max(table, axis=1, where=counts > 0, initial=0.0)
            joint = np.maximum(top, ratio[rows])
            at_top = np.sum(counts, axis=1, where=table >= joint[:, None] * TIED, dtype=np.int64)
            tied[rows] = at_top + np.where(ratio[rows] >= joint * TIED, tied[rows], 0)
            ratio[rows] = joint
            total[rows] += (counts * table).sum(axis=1)
    prior = model.share / max(patterns.entries, 1)
    evidence = (1 - model.share) + prior * total
    posterior = prior * ratio / np.where(evidence > 0, evidence, 1)
    return Best(ratio, tied, posterior)


def _tables(
    block: Block, agree: NDArray[np.float64], disagree: NDArray[np.float64]
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield slices of combinations with the ratio of every pattern, (rows, 2 ** columns)."""
    for start in range(0, len(agree), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        table = np.ones((len(agree[rows]), 1))
        for j in block.columns:
            table = np.hstack([table * disagree[rows, j, None], table * agree[rows, j, None]])
        yield rows, table


def log_likelihood(patterns: Patterns, weight: NDArray[np.float64], model: HitMiss) -> float:
    """Return the release's log-likelihood, in nats, relative to a register of strangers.

    `weight` is (c,) >= 0, the subjects that show each combination.
    """
    return _expectation(patterns, weight, model)[3]


def estimate(
    patterns: Patterns,
    weight: NDArray[np.float64],
    *,
    start: HitMiss | None = None,
    steps: int = 100,
) -> HitMiss:
    """Estimate error rates and share from the release and the register alone, by EM.

    The latent facts are which entry is a record's person, or none, and which of its columns are
    misses. The likelihood never falls; it can rise slowly, where a column's errors and absence
    from the register look alike. Cost: `steps` times that of `best_candidates`.

    Parameters
    ----------
    weight : (c,) float64 >= 0, the subjects that show each combination.
    start : where to begin; 5% of errors and 90% of the people by default.
    steps : rounds, >= 1.
    """
    model = start or HitMiss(np.full(patterns.combinations.shape[1], 0.05), 0.9)
    for _ in range(steps):
        misses, seen, found, _ = _expectation(patterns, weight, model)
        errors = np.where(seen > 0, misses / np.where(seen > 0, seen, 1), model.errors)
        share = found / weight.sum() if weight.sum() > 0 else model.share
        model = HitMiss(np.clip(errors, 0.0, 1.0), float(np.clip(share, 0.0, 1.0)))
    return model


def _expectation(
    patterns: Patterns, weight: NDArray[np.float64], model: HitMiss
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    """Return expected misses (q,), compared values (q,), people found, and the log-likelihood."""
    c, q = patterns.combinations.shape
    agree, disagree = ratios(patterns, model.errors)
    u, known = patterns.frequency, patterns.combinations >= 0
    hit_or_miss = (1 - model.errors) + model.errors * u
    lucky = model.errors * u / np.where(hit_or_miss > 0, hit_or_miss, 1)
    total, missed, seen = np.zeros(c), np.zeros((c, q)), np.zeros((c, q))
    for block in patterns.blocks:
        for rows, table in _tables(block, agree, disagree):
            mass = block.counts[rows] * table
            whole = mass.sum(axis=1)
            total[rows] += whole
            here = list(block.columns)
            bits = np.arange(mass.shape[1])[:, None] >> np.arange(len(here)) & 1
            agreed = mass @ bits.astype(np.float64)
            missed[rows, here] += whole[:, None] - agreed + lucky[rows, here] * agreed
            seen[rows, here] += whole[:, None]
    prior = model.share / max(patterns.entries, 1)
    evidence = (1 - model.share) + prior * total
    scale = weight * prior / np.where(evidence > 0, evidence, 1)
    compared = (known * scale[:, None] * seen).sum(axis=0)
    misses = (known * scale[:, None] * missed).sum(axis=0)
    with np.errstate(divide="ignore"):
        nats = float(np.sum(weight[weight > 0] * np.log(evidence[weight > 0])))
    return misses, compared, float((scale * total).sum()), nats
