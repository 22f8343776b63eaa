"""Selection: the most accurate of several learners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners import learner as protocol
from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.arrays import misfit, take
from voile.documents.learners.calibration import fit_regressions
from voile.documents.learners.crf import CRF, CrfClassifier
from voile.documents.learners.linear import LinearClassifier
from voile.documents.learners.out_of_fold import classes_by_own_rule, margins_out_of_fold
from voile.documents.learners.svm import SVM
from voile.documents.paper.ensemble import EnsembleClassifier, EnsembleLearner

KINDS: tuple[type[protocol.SaveableClassifier], ...] = (
    CrfClassifier,
    LinearClassifier,
    EnsembleClassifier,
)
"""What a kit can hold of the learners chosen from, by the numbers that it uses."""


@dataclass(frozen=True)
class LearnerSelection:
    """Fit the learner with the fewest errors on subjects that it has not seen; of equals the first.

    In other folds another learner may be chosen, whose margins are of another size: so they become
    log-odds, by a logistic regression. `cost_sensitive` compares by T instead of errors; without
    `learners` the paper's four are compared, on `folds` folds.
    """

    learners: Sequence[protocol.TokenLearner] = ()
    folds: int = 3
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "selection-cost" if self.cost_sensitive else "selection"

    def fit(
        self, examples: protocol.LabelledExamples, *, seed: int = 0
    ) -> protocol.TokenClassifier:
        """Compare by cross-validation, then fit the best on everything."""
        looks = [(one, self.look(one, examples, seed)) for one in self.among]
        learner, margins = min(looks, key=lambda look: self.errors(look[1], examples))
        slope, bias = fit_regressions(margins[:, :, None], examples)
        classifier = learner.fit(examples, seed=seed)
        kind = SaveableSelected if type(classifier) in KINDS else SelectedClassifier
        return kind(classifier, slope[:, 0], bias)

    @property
    def among(self) -> tuple[protocol.TokenLearner, ...]:
        cost = self.cost_sensitive
        paper = (CRF, SVM, AdaBoost, EnsembleLearner)
        return tuple(self.learners) or tuple(kind(cost_sensitive=cost) for kind in paper)

    def look(
        self, learner: protocol.TokenLearner, examples: protocol.LabelledExamples, seed: int
    ) -> protocol.Margins:
        """Return a learner's margins, (n, T), of subjects that it has not seen."""
        return margins_out_of_fold(
            lambda some: learner.fit(some, seed=seed), examples, self.folds, seed
        )

    def errors(self, margins: protocol.Margins, examples: protocol.LabelledExamples) -> float:
        """Return the errors of a learner by its own rule, or what they cost."""
        labels, found = examples.labels, classes_by_own_rule(margins)
        if not self.cost_sensitive:
            return float((found != labels)[examples.counted].sum())
        missed = np.bincount(labels[examples.counted & (found == 0)], minlength=examples.types + 1)
        false = (found > 0) & (labels == 0) & examples.counted
        return float(missed[1:] @ examples.costs + false.sum())


@dataclass(frozen=True, eq=False)
class SelectedClassifier:
    """The classifier chosen, its margins in log-odds."""

    classifier: protocol.TokenClassifier  # which
    # slope, bias: (T,) from its margins to log-odds
    slope: NDArray[np.float64]
    bias: NDArray[np.float64]

    def margins(self, sight: protocol.TokenSight) -> protocol.Margins:
        """Return each token's margin for each type, (n, T), in log-odds."""
        return np.asarray(self.classifier.margins(sight) * self.slope + self.bias)


class SaveableSelected(SelectedClassifier):
    saved_as: ClassVar[str] = "selected"

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        assert isinstance(self.classifier, protocol.SaveableClassifier)
        inner = {f"of {name}": one for name, one in self.classifier.to_arrays().items()}
        chosen = np.array(KINDS.index(type(self.classifier)))
        return {**inner, "chosen": chosen, "slope": self.slope, "odds": self.bias}

    @classmethod
    def from_arrays(cls, arrays: protocol.Arrays) -> SaveableSelected:
        chosen = int(take(arrays, "chosen", "i", ()))
        if not 0 <= chosen < len(KINDS):
            raise misfit("chosen")
        inner = {name.removeprefix("of "): arrays[name] for name in arrays if name[:3] == "of "}
        slope = take(arrays, "slope", "f", (None,))
        bias = take(arrays, "odds", "f", (len(slope),))
        return cls(KINDS[chosen].from_arrays(inner), slope, bias)
