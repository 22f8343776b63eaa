"""Differentially private releases: rival methods that generate rows from noisy counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.itemsets.measures.utility import hamdist_weights
from voile.itemsets.paper.flipping import Sparse, one_row_each
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import LabelsLike, RowLabels
from voile.keys.random import ProtectiveRandom

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]
Counts = NDArray[np.int64]

MOST_CELLS = 2**12  # of the frequency matrix: one cell for each 0/1 vector of the chosen features


@dataclass(frozen=True)
class EpsilonSplit:
    """The parts of epsilon used by each pick and by all marginals together.

    They add up to epsilon.
    """

    pick: float
    marginals: float

    @classmethod
    def of(cls, epsilon: float, picks: int) -> EpsilonSplit:
        """Use half of epsilon for the picks, in equal parts, and half for the marginals."""
        return cls(pick=epsilon / 2 / picks, marginals=epsilon / 2)


def score_sensitivity(sizes: NDArray[np.int64]) -> float:
    """Return the largest change of a feature's HamDist by one person's items.

    Class sizes are taken as public.
    """
    pairs = (sizes.sum() ** 2 - (sizes**2).sum()) // 2
    return float((sizes.sum() - sizes.min()) / pairs)


def by_laplace(scores: Floats, scale: float, picks: int, rng: np.random.Generator) -> Numbers:
    """Repeatedly pick the largest score under fresh Laplace noise (report noisy max)."""
    left, picked = np.arange(len(scores)), []
    for _ in range(picks):
        best = int(np.argmax(scores[left] + rng.laplace(scale=scale, size=len(left))))
        picked.append(left[best])
        left = np.delete(left, best)
    return np.sort(picked)


def by_exponential(scores: Floats, scale: float, picks: int, rng: np.random.Generator) -> Numbers:
    """Repeatedly pick an unpicked feature with probability proportional to exp(score / scale).

    All picks are drawn at once with Gumbel noise.
    """
    noisy = scores + rng.gumbel(scale=scale, size=len(scores))
    return np.sort(np.argsort(-noisy)[:picks])


def discrete_laplace(scale: float, size: tuple[int, ...], rng: np.random.Generator) -> Any:
    """Draw integers, each with probability proportional to exp(-abs(integer) / scale)."""
    chance = -np.expm1(-1 / scale)
    return rng.geometric(chance, size) - rng.geometric(chance, size)


class _PrivateRelease(ABC):
    """Choose features with noise, release their noisy frequencies by class, and generate rows."""

    def __init__(self, epsilon: float = 1.0, features: int = 10) -> None:
        self.epsilon = epsilon
        self.features = features

    def fit_transform(
        self,
        X: Any,
        y: LabelsLike,
        subjects: ArrayLike | None = None,
        *,
        protective: ProtectiveRandom | None = None,
    ) -> Sparse:
        """Return generated rows of the chosen features as int8 CSR. Row i is of class y[i].

        X : an `Incidence`, or input of `Incidence.of`. Every row must belong to another subject.
        y : (rows,) labels of two or more classes.
        subjects : (rows,) the subject of each row, used only to reject several rows of one subject.
        protective : the source of randomness. Only tests pass it.
        """
        rows = Incidence.of(X, None, subjects)
        one_row_each(rows)
        self._check(len(rows.features))
        labels = RowLabels.of(y, rows.n_rows)
        rng = (protective or ProtectiveRandom()).generator()
        split = EpsilonSplit.of(self.epsilon, self.features)
        scale = 2 * score_sensitivity(labels.sizes) / split.pick
        scores = hamdist_weights(rows, labels)
        self.features_ = self._pick(scores, scale, rng)
        self.frequencies_, self.rates_ = None, None
        if 2**self.features > MOST_CELLS:
            self.rates_ = _noisy_rates(rows, labels, self.features_, split.marginals, rng)
            return _draw_rows(self.rates_[:, labels.number], rng)
        counts = _count_vectors(rows, labels, self.features_)
        noise = discrete_laplace(2 / split.marginals, counts.shape, rng)
        self.frequencies_ = counts + noise
        return _match_frequencies(self.frequencies_, labels, self.features, rng)

    @abstractmethod
    def _pick(self, scores: Floats, scale: float, rng: np.random.Generator) -> Numbers:
        """Return the chosen features in rising order.

        `scale` is 2 * sensitivity / epsilon of a pick.
        """

    def _check(self, width: int) -> None:
        if not 0 < self.epsilon < np.inf:
            raise RequestError("epsilon must be more than 0, and finite")
        if not 1 <= self.features <= width:
            raise RequestError(f"features must be from 1 to {width:,}, of which some are chosen")


class LaplaceRelease(_PrivateRelease):
    """Release generated rows of features chosen by their HamDist with Laplace noise.

    The adversary knows every row but one, the labels, and the method of generation. The release
    reveals hardly anything about the one row.

    Half of epsilon is used to choose features: each pick is the largest HamDist under fresh noise.
    The other half is used for the frequency matrix of the chosen features. It counts the people of
    each class with each 0/1 vector, plus discrete Laplace noise. Rows of each class are then
    generated to match its noisy frequencies. Negative frequencies count as 0.

    More than 12 features have more than 4,096 vectors. Then only the count of each feature by class
    is released with noise. Rows are drawn one feature at a time, which loses the dependence between
    features.

    Parameters
    ----------
    epsilon : of the whole release, > 0. A second release of the same people adds its own epsilon.
    features : number of features to choose, >= 1. Do not derive it from the data.

    Attributes
    ----------
    features_ : (features,) the numbers of the chosen features, rising.
    frequencies_ : (2**features, classes) int64, the noisy frequency matrix. Bit j of a row's number
        is feature j of `features_`. None above 12 features.
    rates_ : (features, classes) the noisy share of each class with each feature, in [0, 1]. None
        for up to 12 features.

    Guarantee: epsilon-differential privacy of a person's items, proved, up to the rounding of
    floating-point scores. **Labels and class sizes are taken as public**, and are not protected. If
    a person's row changes, two frequencies change by 1, or each of the counts by at most 1.

    Cost: O(ones + 2**features * classes).

    Source: the rival Laplace-DP of Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy
    2017. Also report noisy max, Dwork, Roth, *The Algorithmic Foundations of Differential Privacy*,
    2014, Section 3.3.

    >>> rows, labels = np.repeat([[1, 0, 1], [0, 0, 1]], 500, axis=0), np.repeat([0, 1], 500)
    >>> release = LaplaceRelease(epsilon=5.0, features=1)
    >>> release.fit_transform(rows, labels).shape, release.features_.tolist()
    ((1000, 1), [0])
    """

    def _pick(self, scores: Floats, scale: float, rng: np.random.Generator) -> Numbers:
        return by_laplace(scores, scale, self.features, rng)


class ExponentialRelease(_PrivateRelease):
    """Release generated rows of features chosen by the exponential mechanism over HamDist.

    Each pick draws an unpicked feature with a probability proportional to exp(epsilon of the pick *
    HamDist / (2 * sensitivity)) (McSherry, Talwar, FOCS 2007). All else is as in `LaplaceRelease`.
    This is the rival Exponential-DP of the same paper.

    >>> rows, labels = np.repeat([[1, 0, 1], [0, 0, 1]], 500, axis=0), np.repeat([0, 1], 500)
    >>> ExponentialRelease(epsilon=5.0, features=1).fit_transform(rows, labels).shape
    (1000, 1)
    """

    def _pick(self, scores: Floats, scale: float, rng: np.random.Generator) -> Numbers:
        return by_exponential(scores, scale, self.features, rng)


def _noisy_rates(
    rows: Incidence, labels: RowLabels, features: Numbers, epsilon: float, rng: np.random.Generator
) -> Floats:
    """Return (features, classes) noisy shares.

    A person changes each feature's count by at most 1.
    """
    from voile.itemsets.kernels.gains import held_by_class

    counts = held_by_class(rows.groups, labels.table(rows))[features]
    noisy = counts + discrete_laplace(len(features) / epsilon, counts.shape, rng)
    rates: Floats = np.clip(noisy / labels.sizes, 0.0, 1.0)
    return rates


def _draw_rows(rates: Floats, rng: np.random.Generator) -> Sparse:
    """Draw (rows, features) cells with (features, rows) probabilities, one column at a time."""
    from scipy import sparse

    holders = [np.flatnonzero(rng.random(len(rate)) < rate) for rate in rates]
    starts = np.concatenate([[0], np.cumsum([len(held) for held in holders])])
    held = np.concatenate(holders)
    ones = np.ones(len(held), dtype=np.int8)
    return sparse.csc_array((ones, held, starts), shape=rates.shape[::-1]).tocsr()


def _count_vectors(rows: Incidence, labels: RowLabels, features: Numbers) -> Counts:
    """Return (2**features, classes) counts of the rows with each 0/1 vector of the features."""
    table = labels.table(rows)
    vector = np.zeros(len(table), dtype=np.intp)
    for bit, x in enumerate(features):
        vector[rows.holders[rows.column_starts[x] : rows.column_starts[x + 1]]] |= 1 << bit
    counts = np.zeros((2 ** len(features), table.shape[1]), dtype=np.int64)
    np.add.at(counts, vector, table)
    return counts


def _match_frequencies(
    frequencies: Counts, labels: RowLabels, features: int, rng: np.random.Generator
) -> Sparse:
    """Generate rows in proportion to the noisy frequencies of each class, and keep class sizes."""
    from scipy import sparse

    vectors = np.zeros(len(labels.number), dtype=np.intp)
    for c, size in enumerate(labels.sizes):
        among = np.cumsum(np.maximum(frequencies[:, c], 0))
        among = among if among[-1] else np.arange(1, len(among) + 1)
        steps = (np.arange(size) + rng.random()) * (among[-1] / size)
        vectors[labels.number == c] = rng.permutation(np.searchsorted(among, steps, side="right"))
    held = (vectors[:, None] >> np.arange(features)) & 1
    return sparse.csr_array(held.astype(np.int8))
