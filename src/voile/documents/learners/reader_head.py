"""Train a linear head on the reader's vectors together with voile's own columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from voile.core.errors import RequestError
from voile.documents.learners.learner import LabelledExamples
from voile.documents.model.classifiers.reader_head import (
    NEIGHBOURS,
    ReaderClassifier,
    Weights,
    find_followers,
    score_windows,
)
from voile.documents.reader.encoder import standardise
from voile.documents.reader.installed import INSTALL, find_reader, open_reader

Floats = NDArray[np.float64]


FAR = 8.0
"""The log-odds of a type that every token has, or minus these for a type that no token has."""


@dataclass(frozen=True)
class ReaderLearner:
    """A logistic regression for each type on vectors and columns together (L-BFGS).

    dense_penalty, sparse_penalty : factors of half the squared weights of the standardised vectors
        and of the columns, above 0. The loss is the sum over tokens.

    Cost: O(n (width + columns of a token) T) for each iteration, with at most `iterations`
    iterations.
    """

    cost_sensitive: ClassVar[bool] = False

    sha256: str  # SHA-256 of the reader's weights
    layer: int
    dense_penalty: float = 300.0
    sparse_penalty: float = 20.0
    iterations: int = 200

    @classmethod
    def from_installed(cls) -> ReaderLearner:
        """Return a learner on the installed reader.

        Raises
        ------
        RequestError : no reader is installed.
        """
        found = find_reader()
        if found is None:
            raise RequestError("the learner reader needs a reader", instead=INSTALL)
        return cls(found.sha256, found.layer)

    @property
    def name(self) -> str:
        return "reader"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> ReaderClassifier:
        """Learn from the counted tokens. The seed has no effect."""
        encoder = open_reader(self.sha256, self.layer)
        vectors = encoder.encode(examples.words, examples.gap, examples.first)
        mean, spread = standardise(vectors)
        dense = (vectors.astype(np.float32) - mean) / spread
        return self.fit_vectors(examples, dense).undo_standardisation(mean, spread)

    def fit_vectors(
        self, examples: LabelledExamples, dense: Weights, weight: Weights | None = None
    ) -> ReaderClassifier:
        """Learn from standardised vectors, (n, width).

        weight : (n, T), the weight of each token for each type. By default each counted token has
            the weight 1.
        """
        problem = _JointRegression(self, examples, dense, weight)
        sparse, windows, bias = problem.solve()
        width = dense.shape[1]
        return ReaderClassifier(
            self.sha256,
            self.layer,
            np.zeros(width, np.float32),
            np.ones(width, np.float32),
            windows,
            sparse,
            bias,
        )


class _JointRegression:
    """The loss of the regressions of all types as a function of one weight vector."""

    def __init__(
        self,
        learner: ReaderLearner,
        examples: LabelledExamples,
        dense: Weights,
        weight: Weights | None = None,
    ) -> None:
        self._learner, self._dense = learner, np.ascontiguousarray(dense)
        self._first = examples.first
        if weight is None:
            weight = np.ones((len(dense), examples.types), np.float32)
        weight = weight * examples.counted[:, None]
        types = np.arange(1, examples.types + 1)
        labels = examples.labels[:, None] == types
        self._sign = np.where(labels, 1, -1).astype(np.float32)
        met = (labels & (weight > 0)).sum(axis=0)
        self._learnt = (met > 0) & (met < (weight > 0).sum(axis=0))
        self._sign, self._weight = self._sign[:, self._learnt], weight[:, self._learnt]
        self._constant = np.where(met > 0, FAR, -FAR)
        # the weights of columns without a counted token stay 0
        self._columns = np.unique(examples.matrix[np.flatnonzero(examples.counted)].indices)
        self._matrix = sp.csr_array(examples.matrix[:, self._columns], dtype=np.float32)
        self._transposed = sp.csr_array(self._matrix.T)
        self._size = examples.matrix.shape[1]
        self._types = int(self._learnt.sum())

    def solve(self) -> tuple[Weights, Weights, Weights]:
        """Return the weights of the columns and of the windows, and the bias."""
        from scipy.optimize import minimize

        types, width = len(self._learnt), self._dense.shape[1]
        sparse = np.zeros((self._size, types), np.float32)
        windows = np.zeros((NEIGHBOURS, width, types), np.float32)
        bias = self._constant.astype(np.float32)
        if self._types:
            start = np.zeros(self._parts[-1])
            options = {"maxiter": self._learner.iterations, "maxcor": 10, "ftol": 1e-7}
            with threadpool_limits(1):  # the same order of summation on every machine
                found = minimize(self.loss, start, jac=True, method="L-BFGS-B", options=options)
            own_sparse, own_windows, own_bias = self._split_weights(found.x)
            sparse[np.ix_(self._columns, self._learnt)] = own_sparse
            windows[:, :, self._learnt] = own_windows
            bias[self._learnt] = own_bias
        return sparse, windows, bias

    def loss(self, x: Floats) -> tuple[float, Floats]:
        """Return the penalised loss and its gradient."""
        sparse, windows, bias = self._split_weights(x)
        scores = self._matrix @ sparse.astype(np.float32)
        scores = scores + score_windows(self._dense, windows.astype(np.float32), self._first)
        margin = self._sign * (scores + bias.astype(np.float32))
        slope = -self._weight * self._sign / (1 + np.exp(np.clip(margin, -30, 30)))
        total = float((self._weight * np.logaddexp(0, -margin)).sum(dtype=np.float64))
        penalties = self._learner.sparse_penalty, self._learner.dense_penalty
        for weights, penalty in zip((sparse, windows), penalties, strict=True):
            total += penalty / 2 * float((weights**2).sum())
        slopes = (
            self._transposed @ slope + penalties[0] * sparse,
            self._slope_windows(slope) + penalties[1] * windows,
            slope.sum(axis=0, dtype=np.float64),
        )
        return total, np.concatenate([np.ravel(one) for one in slopes]).astype(np.float64)

    def _slope_windows(self, slope: Weights) -> Weights:
        """Return the gradient of the windows' weights."""
        inside = find_followers(self._first, len(slope))[1:, None]
        moved = np.zeros((len(slope), NEIGHBOURS, slope.shape[1]), np.float32)
        moved[:-1, 0] = np.where(inside, slope[1:], 0)
        moved[:, 1] = slope
        moved[1:, 2] = np.where(inside, slope[:-1], 0)
        found = self._dense.T @ moved.reshape(len(slope), -1)
        return np.asarray(found.reshape(-1, NEIGHBOURS, slope.shape[1]).transpose(1, 0, 2))

    @cached_property
    def _parts(self) -> NDArray[np.intp]:
        """The ends of the columns', the windows' and the biases' parts in the weight vector."""
        sizes = [len(self._columns), NEIGHBOURS * self._dense.shape[1], 1]
        return np.cumsum(np.array(sizes) * self._types)

    def _split_weights(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        sparse, windows, bias = np.split(x, self._parts[:-1])
        width = self._dense.shape[1]
        return (
            sparse.reshape(-1, self._types),
            windows.reshape(NEIGHBOURS, width, self._types),
            bias,
        )
