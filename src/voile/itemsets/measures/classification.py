"""The AUC of two classifiers on published features, cross-validated by subject.

Equal rows are learnt from and scored at once, so the cost follows the patterns.
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
    """An area under the ROC curve in [0, 1], chance .5: the mean of the (folds,) `areas`.

    `influence` : (subjects,) the change of the area by each subject.

    The 95% interval is by the influence of each subject (LeDell, Petersen, van der Laan, Electronic
    Journal of Statistics 2015).
    """

    value: float
    influence: Floats
    areas: Floats

    def mean(self, *, but: int | None = None) -> float:
        """Return the mean area of all folds `but` one."""
        return float(np.delete(self.areas, [] if but is None else but).mean())

    @property
    def low(self) -> float:
        return max(self.value - NORMAL * float(np.linalg.norm(self.influence)), 0.0)

    @property
    def high(self) -> float:
        return min(self.value + NORMAL * float(np.linalg.norm(self.influence)), 1.0)

    def leads(self, other: RocArea) -> bool:
        """Whether it is above another on the same people, by more than the paired interval."""
        half = NORMAL * float(np.linalg.norm(self.influence - other.influence))
        return self.value - other.value > half


@dataclass(frozen=True)
class AucLost:
    """The share of the AUC above chance that is lost, and its 95% interval.

    0 if classifiers do as well as with all features, 1 if they are at chance; below 0 if
    they do better.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, auc: RocArea, whole: RocArea) -> AucLost | None:
        """Compare two sets of features on the same people; None if all features are at chance.

        The interval is paired: it uses each subject's influence on the ratio (delta method).
        """
        above = whole.value - CHANCE
        if whole.low <= CHANCE:
            return None
        moved = ((auc.value - CHANCE) / above * whole.influence - auc.influence) / above
        value, error = (whole.value - auc.value) / above, float(np.linalg.norm(moved))
        return cls(value, value - NORMAL * error, value + NORMAL * error)


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Cross-validate classifiers on any features, with the same people in the same folds.

    `sample` marks the rows that take part, with their `labels` and `fold`. `targets` are the
    classes to separate from all others: the second of two, else each of `FOLDS` people or more.
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
        """Deal the subjects to folds by their first row's class; None if a class is too small.

        If rows have more than `most` ones times classes, only a sample of the people is dealt.
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
        """Return each classifier's AUC on projected rows, the mean of five folds.

        With more than two classes, it is the mean of each against all others. It is somewhat too
        high if the features were chosen with every label in sight.
        """
        return self.measure_auc([rows] * FOLDS)

    def measure_auc(self, by_fold: Sequence[Incidence]) -> dict[str, RocArea]:
        """Return each classifier's AUC on rows that may show other features for each fold."""
        shown = [self.select_sampled(rows) for rows in by_fold]
        return {name: self.auc(shown, learn) for name, learn in LEARNERS.items()}

    def select_sampled(self, rows: Incidence) -> Incidence:
        """Return those of the rows that take part."""
        return rows if self.sample.all() else rows.among(self.sample)

    def find_fold(self, fold: int) -> NDArray[np.bool_]:
        """Return which of all rows are in a fold."""
        hidden = np.zeros(len(self.sample), dtype=np.bool_)
        hidden[self.sample] = self.fold == fold
        return hidden

    def _table(self, rows: Incidence) -> Counts:
        shape = len(rows.own), len(self.labels.sizes), FOLDS
        place = np.ravel_multi_index((rows.pattern, self.labels.number, self.fold), shape)
        return np.bincount(place, minlength=int(np.prod(shape))).reshape(shape).astype(np.int64)

    def auc(self, shown: Sequence[Incidence], learn: Learn | None = None) -> RocArea:
        """Return the AUC of a classifier that sees, for each fold, these rows; else logistic."""
        areas, influence = [], np.zeros(len(self.fold))
        for fold, rows in enumerate(shown):
            once = rows.n_subjects / rows.n_rows  # rows written twice are learnt from as if once
            tried, matrix, table = self.fold == fold, _matrix(rows), self._table(rows)
            for target in self.targets:
                # Rows of the others and of the target: (2, patterns, folds).
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
    """Return each classifier's AUC as ``auc_NAME``; None where nothing was tried."""
    return {f"auc_{name}": tried[name].value if tried else None for name in LEARNERS}


def intervals(tried: Mapping[str, RocArea] | None) -> dict[str, float | None]:
    """Return the ends of each 95% interval as ``auc_NAME_low`` and ``auc_NAME_high``."""
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
    """Learn from (2, patterns) weights of the others and the target, and score every pattern."""
    if not matrix.shape[1]:
        return np.zeros(matrix.shape[0])
    from sklearn import config_context  # type: ignore[import-untyped]

    own, pattern = np.nonzero(of)
    quick = config_context(assume_finite=True, skip_parameter_validation=True)
    with quick, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged is good enough to rank by
        model = learn(matrix[pattern], own == 1, of[own, pattern])
    scores: Floats = (matrix @ model.coef_.T + model.intercept_).ravel()
    return scores


def _area(scores: Floats, of: Counts) -> tuple[float, Floats]:
    """Return the area under the ROC curve of (2, patterns) rows of the others and of the target.

    Also (2, patterns) the share of the other kind that each is ranked rightly against, ties half.
    """
    _, rank = np.unique(scores, return_inverse=True)
    at = np.stack([np.bincount(rank, rows) for rows in of])
    below = np.cumsum(at, axis=1) - at / 2
    sizes = of.sum(axis=1)[:, None]
    others, target = (below / sizes)[:, rank]
    beaten = np.stack([1 - target, others])
    return float((of[1] * others).sum() / sizes[1, 0]), beaten


def _matrix(rows: Incidence) -> Sparse:
    """Return the distinct rows as the classifiers take them: with 32-bit indices."""
    from scipy import sparse

    shape = (len(rows.own), len(rows.features))
    ones = np.ones(len(rows.items))
    return sparse.csr_array((ones, rows.items, rows.starts.astype(np.int32)), shape=shape)
