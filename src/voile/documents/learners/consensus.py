"""Combine several learners, and compare each token with the same word elsewhere in the document."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.crf import CRF
from voile.documents.learners.learner import LabelledExamples, TokenLearner
from voile.documents.learners.out_of_fold import margins_out_of_fold
from voile.documents.learners.regressions import fit_regressions
from voile.documents.learners.svm import SVM
from voile.documents.model.classifiers.consensus import ConsensusClassifier, regressors


@dataclass(frozen=True)
class ConsensusLearner:
    """A learner that sums CRF, SVM and AdaBoost, and uses the same word elsewhere in the document.

    The margins of each learner are divided by their standard deviation. Their sum has fewer errors
    than any single learner. A name may be obvious in one place ("Dr. May") and doubtful in another
    ("May came"). So a logistic regression for each type combines a token's sum with the sums of its
    form elsewhere in the document. It uses their mean and their maximum. The regression is trained
    on the sums of classifiers that had not seen the subject, with `folds` folds.

    Sources: stacking, Wolpert, 1992; the same word elsewhere, Krishnan and Manning, 2006.
    """

    crf: CRF = field(default_factory=lambda: CRF(iterations=30))
    svm: SVM = field(default_factory=SVM)
    adaboost: AdaBoost = field(default_factory=AdaBoost)
    folds: int = 2

    @property
    def name(self) -> str:
        return "consensus"

    @property
    def cost_sensitive(self) -> bool:
        """Whether the costs change a fit. If not, committees for several costs share the fit."""
        return any(one.cost_sensitive for one in (self.crf, self.svm, self.adaboost))

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> ConsensusClassifier:
        """Learn the weights of the learners out of fold, then fit each on all tokens."""
        learners: tuple[TokenLearner, ...] = (self.crf, self.svm, self.adaboost)
        fits = [partial(one.fit, seed=seed) for one in learners]
        margins = np.array([margins_out_of_fold(fit, examples, self.folds, seed) for fit in fits])
        spread = np.zeros(margins.shape[::2])
        if examples.counted.any():
            spread = margins[:, examples.counted].std(axis=1)
        scale = np.where(spread > 0, 1 / np.maximum(spread, 1e-9), 0.0)
        sums = np.einsum("lnt,lt->nt", margins, scale)
        trust, bias = fit_regressions(regressors(sums, examples.form, examples.first), examples)
        chain = self.crf.fit(examples, seed=seed)
        svm, stumps = (one.fit(examples, seed=seed) for one in (self.svm, self.adaboost))
        weights = np.concatenate([chain.weights, svm.weights, stumps.weights], axis=1)
        offset = np.array([svm.bias, stumps.bias])
        return ConsensusClassifier(weights, chain, svm.history, offset, scale, trust, bias)
