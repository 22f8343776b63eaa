"""The AUC of two classifiers on published features, cross-validated by subject.

Equal rows are learned from and scored once, so the cost depends on the number of patterns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.rows.labels import RowLabels

FOLDS = 5
MOST_ONES = 2**20  # some seconds for each set of features
CHANCE = 0.5
NORMAL = 1.959964  # standard errors to either side of a 95% interval

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Sparse = Any  # a SciPy sparse array: SciPy has no types of its own


Learn = Callable[[Sparse, NDArray[np.bool_], Floats], Any]


@dataclass(frozen=True, eq=False)
class RocArea:
    """An area under the ROC curve in [0, 1], the mean of the areas of the folds. Chance is .5.

    `influence` : (subjects,) the influence of each subject on the area. `areas` : (folds,). The 95%
        interval is computed from the influence of each subject (LeDell, Petersen, van der Laan,
        Electronic Journal of Statistics 2015).
    """

    value: float
    influence: Floats
    areas: Floats

    def mean(self, *, but: int | None = None) -> float:
        """Return the mean area of all folds, without fold `but` if it is given."""
        return float(np.delete(self.areas, [] if but is None else but).mean())

    @property
    def low(self) -> float:
        return max(self.value - NORMAL * float(np.linalg.norm(self.influence)), 0.0)

    @property
    def high(self) -> float:
        return min(self.value + NORMAL * float(np.linalg.norm(self.influence)), 1.0)

    def leads(self, other: RocArea) -> bool:
        """Return whether this area exceeds `other` by more than their paired interval."""
        half = NORMAL * float(np.linalg.norm(self.influence - other.influence))
        return self.value - other.value > half


@dataclass(frozen=True)
class AucLost:
    """The lost share of the AUC above chance, with its 95% interval.

    0 means that classifiers do as well as with all features, 1 that they are at chance. The value
    is negative if they do better.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, auc: RocArea, whole: RocArea) -> AucLost | None:
        """Compare the AUC of some features with that of all features, on the same people.

        Returns None if all features together are not above chance. The interval is paired: it uses
        each subject's influence on the ratio (delta method).
        """
        above = whole.value - CHANCE
        if whole.low <= CHANCE:
            return None
        moved = ((auc.value - CHANCE) / above * whole.influence - auc.influence) / above
        value, error = (whole.value - auc.value) / above, float(np.linalg.norm(moved))
        return cls(value, value - NORMAL * error, value + NORMAL * error)


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Cross-validate classifiers on different features, with the same people in the same folds.

    `sample` marks the rows that take part. `labels` and `fold` belong to these rows. `targets` are
    the classes to separate from all others. With two classes, it is the second. Otherwise, it is
    each class with at least `FOLDS` people.
    """

    labels: RowLabels
    fold: Counts
    targets: tuple[int, ...]
    sample: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        rows: Incidence,
        labels: RowLabels,
        rng: np.random.Generator,
        *,
        most: int | None = MOST_ONES,
    ) -> CrossValidation | None:
        """Assign the subjects to folds, balanced by the class of each subject's first row.

        Only a sample of the people takes part if the rows have more than `most` ones times classes.
        Returns None if no class has at least `FOLDS` people, with as many outside it.
        """
        _, first = np.unique(rows.person, return_index=True)
        own = labels.number[first]
        order = rng.permutation(len(own))
        order = order[np.argsort(own[order], kind="stable")]
        work = max(len(rows.items) * max(len(labels.sizes) - 1, 1), 1)
        share = 1.0 if most is None else min(most / work, 1.0)
        dealt = order[np.diff(np.floor(share * np.arange(len(order) + 1))) > 0]
        people = np.bincount(own[dealt], minlength=len(labels.sizes))
        enough = np.flatnonzero((people >= FOLDS) & (people.sum() - people >= FOLDS))
        targets = enough[1:] if len(labels.sizes) == 2 else enough
        if not len(targets):
            return None
        fold = np.full(len(own), -1, dtype=np.int64)
        fold[dealt] = np.arange(len(dealt)) % FOLDS
        by_row = fold[rows.person]
        sample = by_row >= 0
        return cls(labels.among(sample), by_row[sample], tuple(targets.tolist()), sample)

    def __call__(self, rows: Incidence) -> dict[str, RocArea]:
        """Return the AUC of each classifier on projected rows, the mean of five folds.

        With more than two classes, it is the mean over the classes of the AUC against all others.
        The estimate is somewhat too high if the features were chosen with the labels of all rows.
        """
        return self.measure_auc([rows] * FOLDS)

    def measure_auc(self, by_fold: Sequence[Incidence]) -> dict[str, RocArea]:
        """Return the AUC of each classifier. The features of the rows may differ between folds."""
        shown = [self.select_sampled(rows) for rows in by_fold]
        return {name: self.auc(shown, learn) for name, learn in LEARNERS.items()}

    def select_sampled(self, rows: Incidence) -> Incidence:
        """Return the rows that take part."""
        return rows if self.sample.all() else rows.among(self.sample)

    def find_fold(self, fold: int) -> NDArray[np.bool_]:
        """Return a mask over all rows that marks the rows of a fold."""
        hidden = np.zeros(len(self.sample), dtype=np.bool_)
        hidden[self.sample] = self.fold == fold
        return hidden

    def _table(self, rows: Incidence) -> Counts:
        shape = len(rows.own), len(self.labels.sizes), FOLDS
        place = np.ravel_multi_index((rows.pattern, self.labels.number, self.fold), shape)
        return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)

    def auc(self, shown: Sequence[Incidence], learn: Learn | None = None) -> RocArea:
        """Return the AUC of a classifier on the rows given for each fold.

        The default is logistic regression.
        """
        areas, influence = [], np.zeros(len(self.fold))
        for fold, rows in enumerate(shown):
            once = rows.n_subjects / rows.n_rows  # repeated rows count once
            tried, matrix, table = self.fold == fold, _matrix(rows), self._table(rows)
            for target in self.targets:
                # Counts of the other classes and of the target: (2, patterns, folds).
                of = np.stack([table.sum(axis=1) - table[:, target], table[:, target]])
                own = (self.labels.number[tried] == target).astype(np.int64)
                rest = once * (of.sum(axis=2) - of[:, :, fold])
                hidden = of[:, :, fold]
                area, beaten = _area(_scores(learn or _logistic, matrix, rest), hidden)
                moved = beaten[own, rows.pattern[tried]] - area
                influence[tried] += moved / hidden.sum(axis=1)[own]
                areas.append(area)
        whose = shown[0].subject
        by = influence if whose is None else np.bincount(whose, influence)
        by_fold = np.reshape(areas, (len(shown), len(self.targets))).mean(axis=1)
        return RocArea(float(np.mean(areas)), by / len(areas), by_fold)


def figures(tried: Mapping[str, RocArea] | None) -> dict[str, float | None]:
    """Return the AUC of each classifier as ``auc_NAME``, or None without cross-validation."""
    return {f"auc_{name}": tried[name].value if tried else None for name in LEARNERS}


def intervals(tried: Mapping[str, RocArea] | None) -> dict[str, float | None]:
    """Return the bounds of each 95% interval as ``auc_NAME_low`` and ``auc_NAME_high``."""
    return {
        f"auc_{name}_{end}": getattr(tried[name], end) if tried else None
        for name in LEARNERS
        for end in ("low", "high")
    }


def _svm(matrix: Sparse, own: NDArray[np.bool_], weight: Floats) -> Any:
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

    return LinearSVC(C=0.1, dual=False, tol=0.01).fit(matrix, own, sample_weight=weight)


def _logistic(matrix: Sparse, own: NDArray[np.bool_], weight: Floats) -> Any:
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    return LogisticRegression(solver="liblinear").fit(matrix, own, sample_weight=weight)


LEARNERS: Mapping[str, Learn] = {"svm": _svm, "logistic": _logistic}


def _scores(learn: Learn, matrix: Sparse, of: Floats) -> Floats:
    """Train on (2, patterns) weights of the other classes and the target; score every pattern."""
    if not matrix.shape[1]:
        return np.zeros(matrix.shape[0])
    from sklearn import config_context  # type: ignore[import-untyped]

    own, pattern = np.nonzero(of)
    quick = config_context(assume_finite=True, skip_parameter_validation=True)
    with quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a model that has not converged still ranks well enough
        model = learn(matrix[pattern], own == 1, of[own, pattern])
    scores: Floats = (matrix @ model.coef_.T + model.intercept_).ravel()
    return scores


def _area(scores: Floats, of: Counts) -> tuple[float, Floats]:
    """Return the area under the ROC curve, and the share of correctly ranked pairs of each pattern.

    `of` : (2, patterns) counts of the other classes and of the target. The shares are (2,
        patterns): for a row of either kind, the share of the other kind that it is ranked correctly
        against. Ties count half.
    """
    _, rank = np.unique(scores, return_inverse=True)
    at = np.stack([np.bincount(rank, rows) for rows in of])
    below = np.cumsum(at, axis=1) - at / 2
    sizes = of.sum(axis=1)[:, None]
    others, target = (below / sizes)[:, rank]
    beaten = np.stack([1 - target, others])
    return float((of[1] * others).sum() / sizes[1, 0]), beaten


def _matrix(rows: Incidence) -> Sparse:
    """Return the distinct rows in the form that the classifiers require, with 32-bit indices."""
    from scipy import sparse

    shape = (len(rows.own), len(rows.features))
    ones = np.ones(len(rows.items))
    return sparse.csr_array((ones, rows.items, rows.starts.astype(np.int32)), shape=shape)
