"""Select the most accurate of several learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.crf import CRF
from voile.documents.learners.ensemble import EnsembleLearner
from voile.documents.learners.learner import LabelledExamples, TokenLearner
from voile.documents.learners.out_of_fold import classes_by_own_rule, margins_out_of_fold
from voile.documents.learners.regressions import fit_regressions
from voile.documents.learners.svm import SVM
from voile.documents.model.classifiers.classifier import (
    Margins,
    TokenClassifier,
)
from voile.documents.model.classifiers.selection import KINDS, SaveableSelected, SelectedClassifier


@dataclass(frozen=True)
class LearnerSelection:
    """A learner that fits the best of several learners, by errors on unseen subjects.

    The first of equal learners is chosen. Other folds may choose another learner, with margins on
    another scale. So a logistic regression converts margins to log-odds. `cost_sensitive` compares
    learners by the cost T instead of errors. Without `learners`, the four learners of the paper are
    compared, with `folds` folds.
    """

    learners: Sequence[TokenLearner] = ()
    folds: int = 3
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "selection-cost" if self.cost_sensitive else "selection"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> TokenClassifier:
        """Compare the learners by cross-validation, and then fit the best one on all tokens."""
        looks = [(one, self.look(one, examples, seed)) for one in self.among]
        learner, margins = min(looks, key=lambda look: self.errors(look[1], examples))
        slope, bias = fit_regressions(margins[:, :, None], examples)
        classifier = learner.fit(examples, seed=seed)
        kind = SaveableSelected if type(classifier) in KINDS else SelectedClassifier
        return kind(classifier, slope[:, 0], bias)

    @property
    def among(self) -> tuple[TokenLearner, ...]:
        cost = self.cost_sensitive
        paper = (CRF, SVM, AdaBoost, EnsembleLearner)
        return tuple(self.learners) or tuple(kind(cost_sensitive=cost) for kind in paper)

    def look(self, learner: TokenLearner, examples: LabelledExamples, seed: int) -> Margins:
        """Return the margins of a learner, (n, T), on subjects that it has not seen."""
        return margins_out_of_fold(
            lambda some: learner.fit(some, seed=seed), examples, self.folds, seed
        )

    def errors(self, margins: Margins, examples: LabelledExamples) -> float:
        """Return the number of a learner's errors by its own rule, or their cost."""
        labels, found = examples.labels, classes_by_own_rule(margins)
        if not self.cost_sensitive:
            return float((found != labels)[examples.counted].sum())
        missed = np.bincount(labels[examples.counted & (found == 0)], minlength=examples.types + 1)
        false = (found > 0) & (labels == 0) & examples.counted
        return float(missed[1:] @ examples.costs + false.sum())
