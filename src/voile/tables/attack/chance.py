"""Estimate from a register how likely an entry agrees with a stranger's record.

The weight of an agreement is as good as the estimate of how often strangers agree. Columns depend
on each other (ZIP code and race, age and school). A product of the columns' frequencies therefore
makes common combinations look rare, and makes the adversary too confident.

This module builds the probability for each set of columns from smaller sets. The smaller sets give
a prediction without an interaction of all columns of the set. The number of other people with the
same values then corrects the prediction (empirical Bayes, a negative binomial: DuMouchel, Bayesian
data mining, 1999). The weights of both parts are estimated from the register. Entries are removed
from it, and the remaining entries that agree with them are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.tables.attack.patterns import AgreementPatterns, agreement_patterns, subset_sums
from voile.tables.attack.records import MISSING, distinct_rows

Floats = NDArray[np.float64]

LEARNT_FROM = 20_000
CELLS = 2**21
POWER = 0.25  # chosen on the Tennessee data, as is the next constant
ALIKE = 10.0  # from about this many people on, all combinations have the same weight in the mean
SHAPES = np.geomspace(1e-2, 1e6, 49)
ROUNDS, STEPS = 3, 8
FARTHEST = 3.0
MOST_WEIGHT = 20.0


@dataclass(frozen=True)
class AgreementLaw:
    """The distribution of the number of others who agree on a set of columns.

    It is negative binomial, given the number that the smaller sets predict. Its mean is
    exp(`level`) x predicted^`slope`. Its shape parameter is `shape` x mean^(1/4).
    """

    level: float = 0.0
    slope: float = 1.0
    shape: float = float(SHAPES[-1])

    def mean(self, predicted: Floats) -> Floats:
        """Return the expected number of others who agree, > 0."""
        return np.asarray(np.exp(self.level) * predicted**self.slope)

    def chance(self, predicted: Floats, others: Floats, entries: int) -> Floats:
        """Return the probability that one of `entries` agrees, given that `others` of them did."""
        mean = self.mean(predicted)
        shape = self.shape * mean**POWER
        return np.minimum((others + shape) / (entries * (1 + shape / mean)), 1.0)


@dataclass(frozen=True)
class StrangerChance:
    """The probability that a stranger's entry agrees with a record, for each set of columns.

    Attributes
    ----------
    laws : one law for each set of columns in which some entries have all values.
    sizes : (q,) the number of distinct values of the register in each column.
    """

    laws: dict[int, AgreementLaw]
    sizes: tuple[int, ...]

    @classmethod
    def learn(cls, register: NDArray[np.int32], released: NDArray[np.int32]) -> StrangerChance:
        """Estimate the laws from the register's entries, weighted to resemble the release."""
        sizes = tuple(len(np.unique(column[column >= 0])) for column in register.T)
        entries = _some(register)
        combinations, place = distinct_rows(entries)
        likely = likeness(entries, entries, released)
        weight = np.bincount(place, likely, len(combinations)).astype(np.float64)
        laws: dict[int, AgreementLaw] = {}

        def fit(columns: int, predicted: Floats, agree: Floats) -> AgreementLaw:
            laws[columns] = _fit(predicted, agree, weight)
            return laws[columns]

        agree, comparable = agreement_patterns(combinations, register).at_least
        _chances(np.maximum(agree - 1, 0), comparable, sizes, fit)
        return cls(laws, sizes)

    def of(self, patterns: AgreementPatterns) -> Floats:
        """Return the probabilities, (c, 2^q), for each combination and set of columns.

        The probability is 1 if no column can agree. The entry that is considered as the record's
        own is not counted.
        """
        agree, comparable = patterns.at_least
        plain = AgreementLaw()  # for a set in which no entry has all values
        law = self.laws.get
        return _chances(agree, comparable, self.sizes, lambda columns, *_: law(columns, plain))


def _chances(
    agree: Floats,
    comparable: NDArray[np.int64],
    sizes: tuple[int, ...],
    law: Callable[[int, Floats, Floats], AgreementLaw],
) -> Floats:
    """Compute the probabilities from smaller to larger sets of columns.

    The log-linear terms of a set's subsets predict its probability.
    """
    terms, chances = np.zeros_like(agree), np.ones_like(agree)
    sets = np.flatnonzero(comparable)
    sizes_of = np.array([int(columns).bit_count() for columns in sets])
    for size in range(1, int(sizes_of.max(initial=0)) + 1):
        below = subset_sums(terms)
        for columns in sets[sizes_of == size].tolist():
            entries, inside = int(comparable[columns]), below[:, columns]
            share = np.exp(np.minimum(inside, 0)) if size > 1 else _even(agree, columns, sizes)
            own = law(columns, entries * share, agree[:, columns])
            others = np.maximum(agree[:, columns] - 1, 0)
            chances[:, columns] = own.chance(entries * share, others, entries)
            terms[:, columns] = np.log(chances[:, columns]) - inside
    return chances


def _even(agree: Floats, column: int, sizes: tuple[int, ...]) -> Floats:
    """Return the probability of one column's values if all values were equally frequent."""
    return np.full(len(agree), 1 / sizes[column.bit_length() - 1])


def evenly(rows: int, sets: int) -> slice:
    """Return a slice that takes rows at even steps.

    It takes about 20,000 rows at most, and fewer if there are many `sets` of columns.
    """
    return slice(None, None, max(1, -(-rows // min(LEARNT_FROM, CELLS // sets))))


def _some(register: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return entries at even steps among those with a value in every column of the register."""
    held = (register >= 0).any(axis=0)
    whole = register[(register[:, held] >= 0).all(axis=1)]
    order = np.argsort(distinct_rows(whole)[1], kind="stable")
    return whole[order[evenly(len(whole), 1 << register.shape[1])]]


def likeness(
    rows: NDArray[np.int32], register: NDArray[np.int32], released: NDArray[np.int32]
) -> Floats:
    """Return a weight for each row: how much more frequent its values are in the release.

    The weight is a product over columns of the frequency in the release divided by the frequency in
    the register. Each factor is at most `MOST_WEIGHT`. All weights are 1 if they would all be 0.
    """
    weight = np.ones(len(rows))
    for own, held, shown in zip(rows.T, register.T, released.T, strict=True):
        if held.max(initial=MISSING) > MISSING and shown.max(initial=MISSING) > MISSING:
            size = max(x.max(initial=MISSING) for x in (own, held, shown)) + 2
            kept, seen = (
                np.bincount(x + 1, minlength=size)[own + 1] / len(x) for x in (held, shown)
            )
            weight *= np.minimum(seen, MOST_WEIGHT * kept) / np.where(kept > 0, kept, 1)
    return weight if weight.any() else np.ones(len(rows))


def _fit(predicted: Floats, agree: Floats, weight: Floats) -> AgreementLaw:
    """Fit a law: penalised likelihood for the mean, Pearson's statistic for the shape."""
    x = np.log(predicted)
    law = AgreementLaw()
    for _ in range(ROUNDS):
        law = _line(x, agree, weight, law)
        mean = law.mean(predicted)
        excess = (agree - mean) ** 2
        shapes = SHAPES[:, None] * mean**POWER
        pearson = (excess / (mean + mean**2 / shapes)) @ weight
        best = max(int(np.searchsorted(pearson, weight.sum())) - 1, 0)
        law = AgreementLaw(law.level, law.slope, float(SHAPES[best]))
    return law


def _line(x: Floats, agree: Floats, weight: Floats, law: AgreementLaw) -> AgreementLaw:
    """Regress the logarithm of the mean on `x` by Newton's method.

    A penalty keeps the level near 0 and the slope near 1. No step changes a mean by more than a
    factor of e^`FARTHEST`. Without this limit, a step overflows the exponential if agreement is far
    above the prediction.
    """
    line = np.array([law.level, law.slope])
    design = np.stack([np.ones_like(x), x])
    for _ in range(STEPS):
        mean = np.exp(line @ design)
        trust = weight / (1 + mean / ALIKE)
        slope = design @ (trust * (agree - mean)) - (line - [0, 1])
        step = np.linalg.solve((design * (trust * mean)) @ design.T + np.eye(2), slope)
        line = line + step / max(1.0, float(np.abs(step @ design).max()) / FARTHEST)
    return AgreementLaw(float(line[0]), float(line[1]), law.shape)
