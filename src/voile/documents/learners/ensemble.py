"""A two-step ensemble: a CRF finds candidates, and an SVM rejects false candidates."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from voile.documents.learners.crf import CRF
from voile.documents.learners.learner import LabelledExamples
from voile.documents.learners.out_of_fold import margins_out_of_fold
from voile.documents.learners.svm import fit_hyperplanes
from voile.documents.model.classifiers.ensemble import EnsembleClassifier, neighbours


@dataclass(frozen=True)
class EnsembleLearner:
    """A CRF followed by an SVM against its false positives (after BoB: Ferrandez et al., 2013).

    Candidates are the tokens to which the CRF assigns more than the probability `least`. The SVM
    sees the columns of a candidate, and the CRF's log-odds of the candidate and its two neighbours.
    It learns from candidates of CRFs that had not seen their subjects, with `folds` folds. On its
    own training text, a CRF has almost no false positives.
    """

    crf: CRF = field(default_factory=lambda: CRF(iterations=25))
    least: float = 0.001
    C: float = 0.05
    folds: int = 2
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "ensemble-cost" if self.cost_sensitive else "ensemble"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> EnsembleClassifier:
        """Fit the CRF to all tokens, and the SVM to the out-of-fold candidates."""
        chain = self.crf.fit(examples, seed=seed)
        odds = margins_out_of_fold(
            lambda some: self.crf.fit(some, seed=seed), examples, self.folds, seed
        )
        cut = float(np.log(self.least / (1 - self.least)))
        rows = np.flatnonzero((odds.max(axis=1, initial=cut) > cut) & examples.counted)
        beside = sp.csr_array(neighbours(odds, rows, examples.first))
        seen = sp.hstack([examples.matrix[rows], beside], format="csr")
        costs = examples.costs if self.cost_sensitive else np.ones(examples.types)
        weights, bias = fit_hyperplanes(seen, examples.labels[rows], costs, self.C, seed)
        columns = examples.matrix.shape[1]
        both = np.concatenate([chain.weights, weights[:columns]], axis=1)
        return EnsembleClassifier(both, chain, weights[columns:], bias, cut)
