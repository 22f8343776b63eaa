"""Several learners as one, weighed with the same word elsewhere in the document."""

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
    """CRF, SVM and AdaBoost added up, then weighed with the same word elsewhere in the document.

    Each learner's margins are divided by their spread. Their sum errs less than any of them. A name
    may be plain in one place ("Dr. May") and doubtful in another ("May came"). So a logistic
    regression for each type weighs a token's sum with the sums of its form elsewhere in the
    document. It uses their mean and their highest value. The regression is trained on sums of
    classifiers, on `folds` parts, that had not seen the subject. Sources: stacking, Wolpert, 1992;
    the same word elsewhere, Krishnan and Manning, 2006.
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
        """Whether the costs change a fit: else committees for several costs share it."""
        return any(one.cost_sensitive for one in (self.crf, self.svm, self.adaboost))

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> ConsensusClassifier:
        """Learn on parts how far to trust whom, then on all tokens."""
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
