"""Linear support vector machines with the history of classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.learners.history import follow
from voile.documents.learners.learner import Arrays, Examples, Margins, Sight
from voile.documents.learners.storing import packed, taken, unpacked

Labels = NDArray[np.int16]


@dataclass(frozen=True)
class SVM:
    C: float = 0.1
    window: int = 2
    own: int = 0
    plain: bool = False
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        """What history, kits and reports call it."""
        return "svm-cost" if self.cost_sensitive else "svm"

    def fit(self, examples: Examples, *, seed: int = 0) -> Linear:
        before = examples.labels
        if self.own and self.window:
            before = self._crossed(examples, seed)
        return self._fit(examples, before, seed)

    def _crossed(self, examples, seed):
        d = len(examples.first) - 1
        part = np.random.default_rng(seed).permutation(d) % self.own
        out = np.zeros_like(examples.labels)
        sizes = np.diff(examples.first)
        for k in range(self.own):
            one = examples.of(part != k)
            c = (replace(self,window=0) if self.plain else self)._fit(one, one.labels, seed)
            other = examples.of(part == k)
            m = c.margins(other)
            out[np.repeat(part == k, sizes)] = np.where(m.max(1) > 0, m.argmax(1) + 1, 0)
        out[~examples.counted] = 0
        return out

    def _fit(self, examples: Examples, before: Labels, seed: int) -> Linear:
        from sklearn.svm import LinearSVC
        seen = sp.hstack([examples.matrix, past(before, examples, self.window)], format="csr")
        seen.indices, seen.indptr = seen.indices.astype(np.int32), seen.indptr.astype(np.int32)
        types = examples.types
        columns = examples.matrix.shape[1]
        weights = np.zeros((seen.shape[1], types), np.float32)
        bias = np.full(types, -1.0, dtype=np.float32)
        for t in range(types):
            y = examples.labels == t + 1
            if y.any() and not y.all():
                w = {True: examples.costs[t]} if self.cost_sensitive else None
                m = LinearSVC(C=self.C, class_weight=w, random_state=seed, tol=.1, dual=True).fit(seen, y)
                weights[:, t] = m.coef_[0]
                bias[t] = m.intercept_[0]
        return Linear(np.ascontiguousarray(weights[:columns]), bias, weights[columns:].reshape(self.window, types, types))


def past(labels, examples, window):
    n = len(labels)
    start = np.repeat(examples.first[:-1], np.diff(examples.first))
    T = examples.types
    blocks = []
    for k in range(1, window + 1):
        at = np.arange(n) - k
        rows = np.flatnonzero(at >= start)
        c = labels[at[rows]]
        rows, c = rows[c > 0], c[c > 0]
        blocks.append(sp.csr_array((np.ones(len(rows), np.float32), (rows, c - 1)), shape=(n, T)))
    return sp.hstack(blocks, format="csr") if blocks else sp.csr_array((n, 0), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Linear:
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    history: NDArray[np.float32]

    def margins(self, sight: Sight) -> Margins:
        return follow(sight.scores(self.weights) + self.bias, self.history, sight.first)
