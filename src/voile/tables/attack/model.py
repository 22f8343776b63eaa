"""The weights of Fellegi and Sunter (1969) under the hit-miss model of Copas and Hilton (1990).

A register column is wrong with probability e. Where it is right ("hit") the register and the
release agree; where it is wrong ("miss") the register has the value of some other person who
agrees in the hits. With Q(T) the chance that a stranger agrees on at least the columns T, a pair
that agrees on exactly the columns S has the likelihood ratio of one person to strangers

    sum over T inside S of (product over T of 1 - e) (product over the others of e) / Q(T).

Where columns are independent this is the product, column by column, of m / u and e of Fellegi and
Sunter. A column that is missing on either side says nothing: it is in neither product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.attack.patterns import Block, Patterns, subset_sums

TIED = 1 - 1e-9  # two products of the same ratios in another order differ by rounding only
ROWS_AT_ONCE = 4096
USUAL_ERROR = 0.05
CHECKED = 0.1
SETTLED = 1e-6

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HitMiss:
    """The adversary's beliefs: error rate of each column, share of people in the register."""

    errors: Floats
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
    """The best candidates for each released combination (c,): likelihood ratio, ties, posterior.

    The posterior is that of one given of the `tied` entries, against all others and nobody.
    """

    ratio: Floats
    tied: NDArray[np.int64]
    posterior: Floats


def best_candidates(
    patterns: Patterns, chances: Floats, model: HitMiss, alike: NDArray[np.int64]
) -> Best:
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
            table = ratios(block, patterns.combinations[rows], chances[rows], model.errors)
            top = np.max(table, axis=1, where=counts > 0, initial=0.0)
            joint = np.maximum(top, ratio[rows])
            at_top = np.sum(counts, axis=1, where=table >= joint[:, None] * TIED, dtype=np.int64)
            tied[rows] = at_top + np.where(ratio[rows] >= joint * TIED, tied[rows], 0)
            ratio[rows] = joint
            total[rows] += (counts * table).sum(axis=1)
    prior = model.share / max(patterns.entries, 1)
    others = (1 - model.share) + prior * np.maximum(total - tied * ratio, 0)
    return Best(ratio, tied, _of_one(prior * ratio, tied, alike, others))


def _of_one(
    weight: Floats, tied: NDArray[np.int64], alike: NDArray[np.int64], others: Floats
) -> Floats:
    """Return the probability that one given of the best entries is one given subject's.

    `alike` subjects share `tied` best entries, and no entry is two people's. Over all ways to give
    b of them an entry, each counted `weight`^b x `others`^(alike - b), the probability of a pair
    obeys f(n, k) = weight / (k weight + others v(n - 1)), v(n) = 1 / (1 - n f(n, k)), v(0) = 1.
    This is its solution where v changes slowly, n the smaller of the two numbers (the sum is the
    same for both exchanged): exact where one of them is 1, within 3% of the sum elsewhere.
    """
    fewer, more = np.minimum(alike, tied), np.maximum(alike, tied)
    surplus = others - (more - fewer + 1) * weight
    unclaimed = (surplus + np.sqrt(surplus**2 + 4 * others * more * weight)) / 2
    whole = more * weight + unclaimed
    return np.asarray(weight / np.where(whole > 0, whole, 1))


def ratios(
    block: Block, combinations: NDArray[np.int32], chances: Floats, errors: Floats
) -> Floats:
    """Return the likelihood ratio of each pattern of a block's entries, (rows, 2 ** columns)."""
    return subset_sums(_hits(block, combinations, errors) / chances[:, block.sets])


def _hits(block: Block, combinations: NDArray[np.int32], errors: Floats) -> Floats:
    """Return how likely exactly each set of a block's columns is right in a person's entry."""
    likely = np.ones((len(combinations), 1))
    for j in block.columns:
        known = combinations[:, j, None] >= 0
        right, wrong = np.where(known, 1 - errors[j], 0.0), np.where(known, errors[j], 1.0)
        likely = np.hstack([likely * wrong, likely * right])
    return likely


def pieces(rows: int) -> Iterator[slice]:
    """Cut so many rows into slices that a table of their patterns fits in memory."""
    return (slice(start, start + ROWS_AT_ONCE) for start in range(0, rows, ROWS_AT_ONCE))


def log_likelihood(
    patterns: Patterns, chances: Floats, weight: Floats, model: HitMiss, checked: float = 0.0
) -> float:
    """Return the release's log-likelihood, in nats, relative to a register of strangers.

    `weight` is (c,) >= 0, the subjects that show each combination; `checked` as in `estimate`.
    """
    evidence = _expectation(patterns, _excess(patterns, chances), weight, model)[3]
    people = checked * weight.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        nats = weight[weight > 0] @ np.log(evidence[weight > 0])
        known = USUAL_ERROR * np.log(model.errors) + (1 - USUAL_ERROR) * np.log1p(-model.errors)
    return float(nats + (people * known.sum() if people else 0.0))


def estimate(
    patterns: Patterns,
    chances: Floats,
    weight: Floats,
    *,
    overlap: float | None = None,
    surplus: Floats | None = None,
    start: HitMiss | None = None,
    checked: float = CHECKED,
    steps: int = 200,
) -> HitMiss:
    """Estimate error rates and share from the release and the register alone, by EM.

    The latent facts are which entry is a record's person, or none, and which of its columns are
    misses. A column's errors and absence from the register look alike wherever many strangers agree
    on the other columns. So the adversary starts from errors of 5%, believed as if a `checked`
    share of the release's people had been looked up, and lets the data move them; the share in the
    register is estimated freely, or given. `surplus` (c,) is how many more released people are
    alike than chance brings. Without it the penalised likelihood never falls.
    """
    q, n = patterns.combinations.shape[1], weight.sum()
    model = start or HitMiss(np.full(q, USUAL_ERROR), 0.5 if overlap is None else overlap)
    excess = _excess(patterns, chances)
    crowd = np.zeros(len(weight)) if surplus is None else surplus
    crowd = crowd / (chances[:, patterns.whole] * max(patterns.entries, 1))
    for _ in range(steps):
        agreeing = 1 + model.share * np.prod(1 - model.errors) * crowd
        misses, seen, found, _ = _expectation(patterns, excess, weight, model, agreeing)
        people = seen + checked * n
        wrong = misses + USUAL_ERROR * checked * n
        errors = np.where(people > 0, wrong / np.where(people > 0, people, 1), model.errors)
        share = found / n if n > 0 and overlap is None else model.share
        before, model = model, HitMiss(np.clip(errors, 0.0, 1.0), float(np.clip(share, 0, 1)))
        moved = np.abs(np.append(model.errors - before.errors, model.share - before.share))
        if moved.max() < SETTLED:
            break
    return model


def _excess(patterns: Patterns, chances: Floats) -> tuple[Floats, ...]:
    """Return, by block, how many agree on at least each set, against how many would by chance.

    As a share of all entries: with errors known, a record's evidence is a sum of these.
    """
    entries = max(patterns.entries, 1)
    return tuple(b.at_least / (entries * chances[:, b.sets]) for b in patterns.blocks)


def _expectation(
    patterns: Patterns,
    excess: tuple[Floats, ...],
    weight: Floats,
    model: HitMiss,
    crowd: Floats | float = 1.0,
) -> tuple[Floats, Floats, float, Floats]:
    """Return expected misses (q,), compared values (q,), people found, and the evidence (c,).

    `crowd` is how many times as many entries as strangers agree in every column, without the
    record's own.
    """
    c, q = patterns.combinations.shape
    total, hit, seen = np.zeros(c), np.zeros((c, q)), np.zeros((c, q))
    for block, over in zip(patterns.blocks, excess, strict=True):
        mass = _hits(block, patterns.combinations, model.errors) * over
        if block.sets[-1] == patterns.whole:
            mass[:, -1] /= crowd
        columns = list(block.columns)
        right = block.sets[:, None] >> np.array(columns, dtype=np.intp) & 1
        whole = mass.sum(axis=1)
        total += whole
        hit[:, columns] += mass @ right
        seen[:, columns] += whole[:, None]
    seen *= patterns.combinations >= 0
    evidence = (1 - model.share) + model.share * total
    scale = weight * model.share / np.where(evidence > 0, evidence, 1)
    compared, hits = scale @ seen, scale @ hit
    return compared - hits, compared, float(scale @ total), evidence
