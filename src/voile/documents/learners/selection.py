"""Selection: the most accurate of several learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.crf import CRF
from voile.documents.learners.crossing import classes_of, crossed
from voile.documents.learners.ensemble import Ensemble
from voile.documents.learners.learner import Classifier, Examples, Learner
from voile.documents.learners.svm import SVM


@dataclass(frozen=True)
class Selection:
    """Fit the learner that errs least on subjects it has not seen; of equals the first.

    Parameters
    ----------
    learners : to choose from; the paper's four, in their cost-sensitive variants if this is one.
    folds : of the comparison, at least 2.
    cost_sensitive : compare by T, the missed at their costs and the harmless removed at 1.

    Cost of `fit`: that of all learners, `folds` + 1 times at most.
    """

    learners: Sequence[Learner] = ()
    folds: int = 3
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        """What history, kits and reports call it."""
        return "selection-cost" if self.cost_sensitive else "selection"

    def fit(self, examples: Examples, *, seed: int = 0) -> Classifier:
        """Compare by cross-validation, then fit the best on everything."""
        return self.best(examples, seed=seed).fit(examples, seed=seed)

    def best(self, examples: Examples, *, seed: int = 0) -> Learner:
        """Return the learner whose errors cost least."""
        cost = self.cost_sensitive
        learners = self.learners or tuple(
            kind(cost_sensitive=cost) for kind in (CRF, SVM, AdaBoost, Ensemble)
        )
        return min(learners, key=lambda learner: self.errors(learner, examples, seed))

    def errors(self, learner: Learner, examples: Examples, seed: int) -> float:
        """Return the errors, or what they cost, on subjects that a learner has not seen."""
        margins = crossed(lambda some: learner.fit(some, seed=seed), examples, self.folds, seed)
        labels, found = examples.labels, classes_of(margins)
        if not self.cost_sensitive:
            return float((found != labels)[examples.counted].sum())
        missed = np.bincount(labels[examples.counted & (found == 0)], minlength=examples.types + 1)
        false = (found > 0) & (labels == 0) & examples.counted
        return float(missed[1:] @ examples.costs + false.sum())
