"""Several learners as one, and what they say of the same word elsewhere in the document."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.documents.learners.adaboost import AdaBoost
from voile.documents.learners.arrays import pack, take, unpack
from voile.documents.learners.calibration import fit_regressions
from voile.documents.learners.crf import CRF, CrfClassifier
from voile.documents.learners.learner import (
    Arrays,
    LabelledExamples,
    Margins,
    TokenLearner,
    TokenSight,
)
from voile.documents.learners.linear import Weights, decide_in_order
from voile.documents.learners.out_of_fold import margins_out_of_fold
from voile.documents.learners.svm import SVM

Floats = NDArray[np.float64]

FAR = 8.0
"""Sums beyond this are alike."""
REGRESSORS = 5
"""Regressors of a token; see `regressors`."""


@dataclass(frozen=True)
class ConsensusLearner:
    """CRF, SVM and AdaBoost added up, then weighed with the same word elsewhere in the document.

    Each learner's margins are divided by their spread; their sum errs less than any of them. A name
    may be plain in one place ("Dr. May") and doubtful in another ("May came"): so a logistic
    regression for each type weighs a token's sum with the mean and the highest of its form's others
    in the document, learnt on sums of classifiers that had not seen the subject, of `folds` parts
    (stacking: Wolpert, 1992; the same word elsewhere: Krishnan and Manning, 2006).
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


def regressors(sums: Margins, form: NDArray[np.int32], first: NDArray[np.intp]) -> Floats:
    """Return the regressors of each token for each type, (n, T, 5). Cost: O(n log n).

    Its own sum; if its form stands elsewhere in the document the mean and the highest of the sums
    there, 1, and its own sum once more; else zeros.
    """
    sums = np.clip(sums, -FAR, FAR)
    number, mean, highest = compare_same_form(sums, form, first)
    there = np.broadcast_to((number > 0)[:, None], sums.shape)
    return np.stack([sums, mean, highest, there, np.where(there, sums, 0.0)], axis=2)


@dataclass(frozen=True, eq=False)
class ConsensusClassifier:
    saved_as: ClassVar[str] = "agreed"

    weights: Weights  # (columns, m + 2 T) of the CRF's m labels, the SVM and AdaBoost
    chain: CrfClassifier  # the CRF
    history: Weights  # (window, T, T) of the SVM; see `Linear`
    offset: Weights  # (2, T) biases of the SVM and of AdaBoost
    scale: Floats  # (3, T) by which each learner's margins are multiplied
    trust: Floats  # (T, 5) weights of the regressors
    bias: Floats  # (T,)

    def margins(self, sight: TokenSight) -> Margins:
        """Return each token's margin for each type, (n, T), in log-odds."""
        scores = sight.scores(self.weights)
        labels, types = len(self.chain.labels), len(self.bias)
        odds = self.chain.odds(np.ascontiguousarray(scores[:, :labels]), sight.first)
        linear = scores[:, labels:].reshape(-1, 2, types) + self.offset
        svm = decide_in_order(np.ascontiguousarray(linear[:, 0]), self.history, sight.first)
        sums = odds * self.scale[0] + svm * self.scale[1] + linear[:, 1] * self.scale[2]
        seen = regressors(sums, sight.form, sight.first)
        return np.asarray(np.einsum("ntk,tk->nt", seen, self.trust) + self.bias)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        own = {"history": self.history, "offset": self.offset, "scale": self.scale}
        judged = {"trust": self.trust, "bias": self.bias}
        return {**self.chain.to_arrays(), **pack(self.weights), **own, **judged}  # type: ignore[dict-item]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ConsensusClassifier:
        bias = take(arrays, "bias", "f", (None,))
        types, labels = len(bias), len(take(arrays, "labels", "i", (None,)))
        weights = unpack(arrays, labels + 2 * types)
        chain = CrfClassifier.from_arrays({**arrays, **pack(weights[:, :labels])})
        take(arrays, "shift", "f", (types,))
        history = take(arrays, "history", "f", (None, types, types))
        return cls(
            weights,
            chain,
            history.astype(np.float32, order="C"),
            take(arrays, "offset", "f", (2, types)).astype(np.float32),
            take(arrays, "scale", "f", (3, types)),
            take(arrays, "trust", "f", (types, REGRESSORS)),
            bias,
        )


def compare_same_form(
    values: Floats, form: NDArray[np.int32], first: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return of each token's form elsewhere in its document how often it stands, (n,), and the mean
    and the highest value there, (n, T); 0 where it does not. Cost: O(n log n + n T).
    """
    document = np.repeat(np.arange(len(first) - 1), np.diff(first))
    key = document * (int(form.max(initial=0)) + 1) + form
    _, group, size = np.unique(key, return_inverse=True, return_counts=True)
    mean, highest = _others(np.ascontiguousarray(values), group, size)
    return size[group] - 1, mean, highest


@njit(cache=True, nogil=True)
def _others(
    values: Floats, group: NDArray[np.intp], size: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    n, types = values.shape
    total = np.zeros((len(size), types))
    top = np.full((len(size), types), -np.inf)
    second = np.full((len(size), types), -np.inf)
    for i in range(n):
        g = group[i]
        for t in range(types):
            value = values[i, t]
            total[g, t] += value
            if value > top[g, t]:
                second[g, t], top[g, t] = top[g, t], value
            elif value > second[g, t]:
                second[g, t] = value
    mean, highest = np.zeros((n, types)), np.zeros((n, types))
    for i in range(n):
        g = group[i]
        if size[g] > 1:
            for t in range(types):
                mean[i, t] = (total[g, t] - values[i, t]) / (size[g] - 1)
                highest[i, t] = second[g, t] if values[i, t] == top[g, t] else top[g, t]
    return mean, highest
