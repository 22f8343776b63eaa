"""Decide about text that a learner has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.calibration import fit_calibration
from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.classifiers.calibration import IsotonicCalibration
from voile.documents.model.classifiers.classifier import Margins
from voile.documents.model.committee.committee import DecidedTokens
from voile.documents.words.tokens import TextTokens


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """A learner's margins for each token, by classifiers trained on other subjects' text."""

    margins: Margins  # (n, T)
    fold: NDArray[np.intp]  # (n,) the fold of each token

    def decide_tokens(
        self, tokens: TextTokens, examples: LabelledExamples, decision: str
    ) -> DecidedTokens:
        """Decide for each token of the text, with calibration on the other folds."""
        types, sure = DecidedTokens.by_own_rule(self.margins)
        if decision == "cost":
            known = np.zeros(self.margins.shape)
            for fold in np.unique(self.fold[examples.unmarked_tokens]):
                here = self.fold == fold
                others = ~here if examples.counted[~here].any() else here
                curve = self._calibration(examples, others)
                known[here] = curve.probabilities(self.margins[here])
            return DecidedTokens.by_cost(tokens, known, examples.costs, examples.unmarked_tokens)
        return DecidedTokens(
            np.where(examples.unmarked_tokens, types, 0).astype(np.int16),
            sure & examples.unmarked_tokens,
        )

    def calibration(self, examples: LabelledExamples) -> IsotonicCalibration:
        """Return the calibration on all folds."""
        return self._calibration(examples, np.ones(len(self.fold), dtype=np.bool_))

    def _calibration(
        self, examples: LabelledExamples, of: NDArray[np.bool_]
    ) -> IsotonicCalibration:
        labels, counted = examples.labels[of], examples.counted[of]
        return fit_calibration(self.margins[of], labels, counted)
