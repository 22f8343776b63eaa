"""A classifier that combines learners, and compares the same word elsewhere in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.documents.model.classifiers.arrays import pack, take, unpack
from voile.documents.model.classifiers.classifier import Arrays, Margins, TokenSight
from voile.documents.model.classifiers.crf import CrfClassifier
from voile.documents.model.classifiers.linear import Weights, decide_in_order

Floats = NDArray[np.float64]


FAR = 8.0
"""The bound of sums; larger sums are clipped."""


REGRESSORS = 5
"""The number of regressors for a token; see `regressors`."""


def regressors(sums: Margins, form: NDArray[np.int32], first: NDArray[np.intp]) -> Floats:
    """Return the regressors of each token for each type, (n, T, 5). Cost: O(n log n).

    The first is the token's own sum. The others are zeros, unless its form occurs elsewhere in the
    document. Then they are the mean and the maximum of the sums there, 1, and its own sum.
    """
    sums = np.clip(sums, -FAR, FAR)
    number, mean, highest = compare_same_form(sums, form, first)
    there = np.broadcast_to((number > 0)[:, None], sums.shape)
    return np.stack([sums, mean, highest, there, np.where(there, sums, 0.0)], axis=2)


@dataclass(frozen=True, eq=False)
class ConsensusClassifier:
    saved_as: ClassVar[str] = "agreed"

    weights: Weights  # (columns, m + 2 T), for the CRF's m labels, the SVM and AdaBoost
    chain: CrfClassifier  # the CRF
    history: Weights  # (window, T, T) of the SVM; see `LinearClassifier`
    offset: Weights  # (2, T) biases of the SVM and of AdaBoost
    scale: Floats  # (3, T) factors of each learner's margins
    trust: Floats  # (T, 5) weights of the regressors
    bias: Floats  # (T,)

    def margins(self, sight: TokenSight) -> Margins:
        """Return the margin of each type for each token, (n, T), as log-odds."""
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
    """Return the count, mean and maximum of each token's form elsewhere in its document.

    The count is (n,). The mean and the maximum are (n, T), and 0 if the form does not occur
    elsewhere. Cost: O(n log n + n T).
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
