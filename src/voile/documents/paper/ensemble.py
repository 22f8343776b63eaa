"""An ensemble of two steps: a CRF finds candidates, an SVM sends the false ones away."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.learners.arrays import pack, take, unpack
from voile.documents.learners.crf import CRF, CrfClassifier
from voile.documents.learners.learner import Arrays, LabelledExamples, Margins, TokenSight
from voile.documents.learners.out_of_fold import margins_out_of_fold
from voile.documents.learners.svm import fit_hyperplanes

NEAR = 6.0
"""Log-odds beyond this are alike to the SVM."""
BELOW = 20.0
"""How far the margin of what is no candidate lies below its log-odds, and so below candidates'."""


@dataclass(frozen=True)
class EnsembleLearner:
    """CRF, then SVM against its false positives (after BoB: Ferrandez et al., 2013).

    Candidates are the tokens that the CRF gives more than the probability `least`. The SVM sees a
    candidate's columns and the CRF's log-odds of it and its two neighbours. It learns from
    candidates of CRFs, on `folds` parts, that had not seen their subjects: on its own text a CRF
    has next to no false positives.
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
        """Fit the CRF to all tokens, the SVM to the candidates of others."""
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


def neighbours(
    odds: Margins, rows: NDArray[np.intp], first: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return the log-odds of some tokens and their neighbours, (rows, 3 T), from -1 to 1."""
    document = np.searchsorted(first, rows, side="right")
    start, end = first[document - 1], first[document]
    columns = []
    for step in (0, -1, 1):
        at = rows + step
        inside = (at >= start) & (at < end)
        there = odds[np.where(inside, at, rows)]
        columns.append(np.where(inside[:, None], np.clip(there, -NEAR, NEAR), -NEAR) / NEAR)
    return np.concatenate(columns, axis=1).astype(np.float32)


@dataclass(frozen=True, eq=False)
class EnsembleClassifier:
    saved_as: ClassVar[str] = "judged"

    weights: NDArray[np.float32]  # (columns, m + T) of the CRF's m labels and of the SVM's T types
    chain: CrfClassifier  # the CRF
    beside: NDArray[np.float32]  # (3 T, T) the SVM's weights of the CRF's log-odds
    bias: NDArray[np.float32]  # (T,) of the SVM
    cut: float  # log-odds above which a token is a candidate

    def margins(self, sight: TokenSight) -> Margins:
        """Return each token's margin for each type, (n, T): the SVM's where it is a candidate."""
        scores = sight.scores(self.weights)
        labels = len(self.chain.labels)
        odds = self.chain.odds(scores[:, :labels], sight.first)
        rows = np.flatnonzero(odds.max(axis=1, initial=self.cut) > self.cut)
        margins = odds - BELOW
        beside = neighbours(odds, rows, sight.first) @ self.beside
        margins[rows] = scores[rows, labels:] + beside + self.bias
        return margins

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        own = {"beside": self.beside, "bias": self.bias, "cut": np.array(self.cut)}
        return {**self.chain.to_arrays(), **pack(self.weights), **own}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> EnsembleClassifier:
        bias = take(arrays, "bias", "f", (None,))
        types = len(bias)
        labels = len(take(arrays, "labels", "i", (None,)))
        weights = unpack(arrays, labels + types)
        chain = CrfClassifier.from_arrays({**arrays, **pack(weights[:, :labels])})
        take(arrays, "shift", "f", (types,))
        beside = take(arrays, "beside", "f", (3 * types, types))
        return cls(weights, chain, beside, bias, float(take(arrays, "cut", "f", ())))
