"""Use scikit-learn classifiers as learners. Other modules support spaCy and Hugging Face.

A kit cannot contain fitted scikit-learn learners, since they are objects and not arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.learners.learner import LabelledExamples
from voile.documents.learners.svm import with_32_bits
from voile.documents.model.classifiers.chain import MOST, log_odds_of
from voile.documents.model.classifiers.classifier import Margins, TokenSight


@dataclass(frozen=True)
class Sklearn:
    """A learner from any scikit-learn classifier of sparse matrices with probabilities or scores.

    `estimator` is cloned for every fit, and its `random_state`, if any, is set to the seed of the
    fit. `name` is the name in history and reports.
    """

    estimator: Any
    name: str = "sklearn"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> SklearnClassifier:
        from sklearn.base import clone  # type: ignore[import-untyped]

        estimator = clone(self.estimator)
        if not (hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function")):
            raise RequestError(
                f"{type(estimator).__name__} gives neither probabilities nor scores",
                instead="use a classifier with predict_proba or decision_function",
            )
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=seed)
        labels = examples.labels[examples.counted]
        classes = np.unique(labels)
        if len(classes) > 1:
            estimator.fit(with_32_bits(examples.matrix[np.flatnonzero(examples.counted)]), labels)
        return SklearnClassifier(estimator, classes, examples.types)


@dataclass(frozen=True, eq=False)
class SklearnClassifier:
    estimator: Any  # fitted, unless there is only one class
    classes: NDArray[np.int16]  # the labels that occur, ascending
    types: int  # T

    def margins(self, sight: TokenSight) -> Margins:
        """Return the log-odds of each type, or its score minus the best other score, (n, T)."""
        found = np.full((sight.matrix.shape[0], self.types), -MOST)
        if not len(found):  # scikit-learn refuses empty input
            return found
        if len(self.classes) == 1:
            odds = np.full((len(found), 1), MOST)
        elif hasattr(self.estimator, "predict_proba"):
            odds = log_odds_of(self.estimator.predict_proba(with_32_bits(sight.matrix)))
        else:
            odds = _apart(self.estimator.decision_function(with_32_bits(sight.matrix)))
        kinds = self.classes > 0
        found[:, self.classes[kinds] - 1] = odds[:, kinds]
        return found


def _apart(scores: NDArray[np.floating]) -> Margins:
    """Return the score of each class minus the best other score, (n, classes)."""
    if scores.ndim == 1:
        return np.stack([-scores, scores], axis=1).astype(np.float64)
    top = np.sort(scores, axis=1)
    best = np.where(scores == top[:, -1:], top[:, -2:-1], top[:, -1:])
    return np.asarray(scores - best, dtype=np.float64)


def check_types(types: Mapping[str, int], count: int) -> dict[str, int]:
    """Return the type, 1 to T, of each of the user's labels."""
    for label, kind in types.items():
        if not 1 <= kind <= count:
            raise RequestError(
                f"the label {label} stands for type {kind} of {count}",
                instead=f"give a number from 1 to {count}",
            )
    return dict(types)
