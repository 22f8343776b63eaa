"""Measure the utility of features for classification or, without labels, for coverage.

A *modular* utility is the sum of one weight for each feature. DistCnt and CM are functions of the
whole set. Source: definitions 2, 8 and 9 of Zhang, Mohammed, Dave, Al Hasan, Transactions on Data
Privacy 2017, extended here to two or more classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError, nearest
from voile.itemsets.rows.incidence import Features, Incidence
from voile.itemsets.rows.labels import LabelsLike, RowLabels, unlike

Weights = NDArray[np.float64]


def hamdist(X: Any, y: LabelsLike, features: Features | None = None) -> float:
    """Return HamDist (Def. 8): the mean number of features in which rows of unlike labels differ.

    HamDist is modular. It is largest for features that half of the rows of every class have,
    although these do not distinguish the classes. See `mutual_information`.

    Parameters
    ----------
    X : an `Incidence`, or input of `Incidence.of`.
    y : (rows,) labels of two or more classes. The mean is over all pairs of rows of different
        labels.
    features : the features to count, in a form that `Incidence.project` accepts. None for all.

    >>> hamdist(np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1])
    1.5
    """
    rows = Incidence.of(X)
    weights = hamdist_weights(rows, y)
    return float(weights.sum() if features is None else weights[rows.numbers(features)].sum())


def distcnt(X: Any, y: LabelsLike, features: Features | None = None) -> float:
    """Return DistCnt (Def. 9): the share of pairs of different labels that a feature distinguishes.

    The value is in [0, 1]. It is submodular: the more features there are, the less another one
    adds. The parameters are those of `hamdist`.

    >>> distcnt(np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1])
    1.0
    """
    _, table = _count_published(X, y, features)
    pairs = unlike(table.sum(axis=0))
    return float((pairs - unlike(table).sum()) / pairs)


def classification_metric(X: Any, y: LabelsLike, features: Features | None = None) -> float:
    """Return CM (Def. 2): the share of rows without the majority label of their group, in [0, 1).

    The paper also counts suppressed rows. Here no row is suppressed.
    """
    rows, table = _count_published(X, y, features)
    return float(1 - table.max(axis=1).sum() / rows.n_rows)


def hamdist_weights(X: Any, y: LabelsLike) -> Weights:
    """Return (features,) the weight of each feature in `hamdist`, in [0, 1].

    The weight is the share of the pairs of different labels on which the feature differs.
    """
    holders, sizes = _holders(X, y)
    differ = holders * (sizes.sum() - sizes - holders.sum(axis=1, keepdims=True) + holders)
    weights: Weights = differ.sum(axis=1) / unlike(sizes)
    return weights


def mutual_information(X: Any, y: LabelsLike) -> Weights:
    """Return (features,) the bits of the label that each feature alone reveals."""
    holders, sizes = _holders(X, y)
    rows = sizes.sum()
    bits = np.zeros(len(holders))
    for cells in (holders, sizes - holders):
        expected = cells.sum(axis=1, keepdims=True) * (sizes / rows)
        ratio = np.divide(cells, expected, out=np.ones(cells.shape), where=cells > 0)
        bits += (cells * np.log2(ratio)).sum(axis=1) / rows
    return np.maximum(bits, 0.0)


def chi_squared(X: Any, y: LabelsLike) -> Weights:
    """Return (features,) Pearson's chi-squared of each feature and the label, counted in rows."""
    holders, sizes = _holders(X, y)
    rows = sizes.sum()
    total = np.zeros(len(holders))
    for cells in (holders, sizes - holders):
        expected = cells.sum(axis=1, keepdims=True) * (sizes / rows)
        terms = np.zeros(cells.shape)
        np.divide((cells - expected) ** 2, expected, out=terms, where=expected > 0)
        total += terms.sum(axis=1)
    return total


def size(X: Any, y: LabelsLike | None = None) -> Weights:
    """Return (features,) ones. The utility of a set is then its number of features."""
    return np.ones(len(Incidence.of(X).features))


def coverage(X: Any, y: LabelsLike | None = None) -> Weights:
    """Return (features,) the share of all ones that each feature has. No label is needed."""
    rows = Incidence.of(X)
    ones = _per_feature(rows, np.bincount(rows.pattern)[:, None])[:, 0]
    weights: Weights = ones / max(ones.sum(), 1)
    return weights


UNLABELLED = ("coverage", "size")
UTILITIES: Mapping[str, Callable[[Any, Any], Weights]] = {
    "mutual-information": mutual_information,
    "hamdist": hamdist_weights,
    "chi-squared": chi_squared,
    "coverage": coverage,
    "size": size,
}


def weights_for(
    utility: str | ArrayLike, incidence: Incidence, labels: LabelsLike | None
) -> Weights:
    """Return the weights of a modular utility, given its name or the weights themselves.

    Raises
    ------
    RequestError : the name is unknown, or the utility needs labels. The given weights have another
        shape than (features,), or one of them is not finite.
    """
    if isinstance(utility, str):
        if utility not in UTILITIES:
            raise RequestError(f"no utility {utility!r}", instead=nearest(utility, UTILITIES))
        if labels is None and utility not in UNLABELLED:
            raise RequestError(f"{utility} needs a label", instead="use the utility coverage")
        return UTILITIES[utility](incidence, labels)
    weights = np.asarray(utility, dtype=np.float64)
    if weights.shape != (len(incidence.features),):
        raise RequestError(
            f"weights of shape {weights.shape} for {len(incidence.features)} features"
        )
    if not np.isfinite(weights).all():
        first = int(np.argmin(np.isfinite(weights)))
        raise RequestError("a weight is not finite", where=f"column {incidence.features[first]}")
    return weights


def _count_published(
    X: Any, y: LabelsLike, features: Features | None
) -> tuple[Incidence, NDArray[np.int64]]:
    """Return the rows as published, and the number of rows of each class with each pattern."""
    rows = Incidence.of(X)
    rows = rows if features is None else rows.project(features)
    return rows, RowLabels.of(y, rows.n_rows).table(rows)


def _holders(X: Any, y: LabelsLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (features, classes) counts of rows that have each feature, and the class sizes."""
    rows = Incidence.of(X)
    labels = RowLabels.of(y, rows.n_rows)
    return _per_feature(rows, labels.table(rows)), labels.sizes


def _per_feature(rows: Incidence, table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum a table of patterns over the patterns that have each feature."""
    from voile.itemsets.kernels.gains import held_by_class

    return held_by_class(rows.groups, table)
