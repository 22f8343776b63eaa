"""Utilities: the worth of features for classification or, without labels, for coverage.

A *modular* utility is a weight for each feature, added up; DistCnt and CM are functions of the
whole set. Definitions 2, 8 and 9 of Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy
2017, here for two classes or more.
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
    """Return HamDist (Def. 8): on how many features two rows of unlike labels differ, on average.

    Modular. It is largest for features that half the rows of every class hold, which do not
    distinguish the classes: see `mutual_information`.

    Parameters
    ----------
    X : an `Incidence`, or input of `Incidence.of`.
    y : (rows,) labels, of two classes or more; the mean is over all pairs of unlike labels.
    features : the features that count, as `Incidence.project` takes them; None for all.

    >>> hamdist(np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1])
    1.5
    """
    rows = Incidence.of(X)
    weights = hamdist_weights(rows, y)
    return float(weights.sum() if features is None else weights[rows.numbers(features)].sum())


def distcnt(X: Any, y: LabelsLike, features: Features | None = None) -> float:
    """Return DistCnt (Def. 9): the share of pairs of unlike labels that some feature distinguishes.

    In [0, 1]; submodular: a feature adds the less, the more there are. Parameters as `hamdist`.

    >>> distcnt(np.array([[1, 0], [1, 1], [0, 1]]), [0, 0, 1])
    1.0
    """
    _, table = _count_published(X, y, features)
    pairs = unlike(table.sum(axis=0))
    return float((pairs - unlike(table).sum()) / pairs)


def classification_metric(X: Any, y: LabelsLike, features: Features | None = None) -> float:
    """Return CM (Def. 2): the share of rows without the majority label of their group, in [0, 1).

    No row is suppressed here, which would count as another.
    """
    rows, table = _count_published(X, y, features)
    return float(1 - table.max(axis=1).sum() / rows.n_rows)


def hamdist_weights(X: Any, y: LabelsLike) -> Weights:
    """Return (features,) the part of each in `hamdist`, in [0, 1]: the share of unlike pairs."""
    holders, sizes = _holders(X, y)
    differ = holders * (sizes.sum() - sizes - holders.sum(axis=1, keepdims=True) + holders)
    weights: Weights = differ.sum(axis=1) / unlike(sizes)
    return weights


def mutual_information(X: Any, y: LabelsLike) -> Weights:
    """Return (features,) the bits that each feature alone reveals of the label."""
    holders, sizes = _holders(X, y)
    rows = sizes.sum()
    bits = np.zeros(len(holders))
    for cells in (holders, sizes - holders):
        expected = cells.sum(axis=1, keepdims=True) * (sizes / rows)
        ratio = np.divide(cells, expected, out=np.ones(cells.shape), where=cells > 0)
        bits += (cells * np.log2(ratio)).sum(axis=1) / rows
    return np.maximum(bits, 0.0)


def chi_squared(X: Any, y: LabelsLike) -> Weights:
    """Return (features,) Pearson's chi-squared of each feature and the label, rows as the unit."""
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
    """Return (features,) ones: the utility of a set is how many features it has."""
    return np.ones(len(Incidence.of(X).features))


def coverage(X: Any, y: LabelsLike | None = None) -> Weights:
    """Return (features,) the share of all ones that each feature holds; no label is needed."""
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
    """Return the weights of a modular utility by its name, or a user's own, checked."""
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
    """Return the rows as published, and how many of each class have each pattern."""
    rows = Incidence.of(X)
    rows = rows if features is None else rows.project(features)
    return rows, RowLabels.of(y, rows.n_rows).table(rows)


def _holders(X: Any, y: LabelsLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (features, classes) rows of each class that hold each feature; the classes' sizes."""
    rows = Incidence.of(X)
    labels = RowLabels.of(y, rows.n_rows)
    return _per_feature(rows, labels.table(rows)), labels.sizes


def _per_feature(rows: Incidence, table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum a table of patterns over the holders of each feature."""
    from voile.itemsets.kernels.gains import held_by_class

    return held_by_class(rows.groups, table)
