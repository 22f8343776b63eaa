"""Linear support vector machines that use the classes of preceding tokens."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from voile.documents.learners.learner import LabelledExamples
from voile.documents.learners.out_of_fold import classes_by_own_rule, margins_out_of_fold
from voile.documents.model.classifiers.linear import LinearClassifier, Weights

Labels = NDArray[np.int16]


@dataclass(frozen=True)
class SVM:
    """A linear support vector machine, one type against the rest, which decides from left to right.

    The columns of a token include the classes of the `window` tokens before it. In training, the
    machine would rely too much on true classes. So it uses classes predicted for subjects that the
    machine had not seen, with `folds` folds (1 uses the true classes). Marks count as harmless
    tokens there.

    C : the weight of the errors relative to the width of the margin, above 0.
    cost_sensitive : whether the error of an identifier is weighted by its cost.

    Cost: O(ones in the matrix) for each round of dual coordinate descent, with about 30 rounds.
    With two folds the cost is twice that. 200,000 tokens take 1.3 s on one core for each type.
    """

    C: float = 0.1
    window: int = 2
    folds: int = 2
    cost_sensitive: bool = False

    @property
    def name(self) -> str:
        return "svm-cost" if self.cost_sensitive else "svm"

    def fit(self, examples: LabelledExamples, *, seed: int = 0) -> LinearClassifier:
        """Learn in two steps: first the classes of preceding tokens, then the final machine."""
        before = examples.labels
        if self.window and self.folds > 1:
            fit = partial(self._fit_on_truth, seed=seed)
            before = classes_by_own_rule(margins_out_of_fold(fit, examples, self.folds, seed))
            before[~examples.unmarked_tokens] = 0
        return self._fit(examples, before, seed)

    def _fit_on_truth(self, examples: LabelledExamples, seed: int) -> LinearClassifier:
        return self._fit(examples, examples.labels, seed)

    def _fit(self, examples: LabelledExamples, before: Labels, seed: int) -> LinearClassifier:
        types, columns = examples.types, examples.matrix.shape[1]
        seen = sp.hstack(
            [examples.matrix, past_classes(before, examples, self.window)], format="csr"
        )
        costs = examples.costs if self.cost_sensitive else np.ones(types)
        labels = examples.labels
        if examples.unknown.any():
            rows = np.flatnonzero(~examples.unknown)
            seen, labels = seen[rows], labels[rows]
        weights, bias = fit_hyperplanes(seen, labels, costs, self.C, seed)
        history = weights[columns:].reshape(self.window, types, types)
        return LinearClassifier(np.ascontiguousarray(weights[:columns]), bias, history)


def past_classes(labels: Labels, examples: LabelledExamples, window: int) -> sp.csr_array:
    """Return the classes of the tokens before each token, (n, window x T), nearest first."""
    n, types = len(labels), examples.types
    start = np.repeat(examples.first[:-1], np.diff(examples.first))
    here = np.arange(n)
    rows, columns = [], []
    for back in range(1, window + 1):
        at = here[here - back >= start]
        at = at[labels[at - back] > 0]
        rows.append(at)
        columns.append((back - 1) * types + labels[at - back] - 1)
    flat = np.concatenate([here[:0], *rows])
    ones = np.ones(len(flat), np.float32)
    where = (flat, np.concatenate([here[:0], *columns]))
    return sp.csr_array((ones, where), shape=(n, window * types))


def fit_hyperplanes(
    matrix: sp.csr_array, labels: Labels, costs: NDArray[np.float64], C: float, seed: int
) -> tuple[Weights, Weights]:
    """Return the weights, (columns, T), and the bias, (T,), that separate each type from the rest.

    A type that no token has is never predicted, and a type that every token has is always
    predicted.
    """
    from sklearn.svm import LinearSVC  # type: ignore[import-untyped]

    matrix = with_32_bits(matrix.astype(np.float64))
    # also sorts; otherwise scikit-learn copies and sorts the matrix for each type
    matrix.sum_duplicates()
    weights = np.zeros((matrix.shape[1], len(costs)), np.float32)
    bias = np.full(len(costs), -1, np.float32)
    for kind, cost in enumerate(costs):
        positive = labels == kind + 1
        if positive.any() and not positive.all():
            machine = LinearSVC(
                C=C, tol=0.1, dual=True, class_weight={True: cost}, random_state=seed
            )
            machine.fit(matrix, positive)
            weights[:, kind], bias[kind] = machine.coef_[0], machine.intercept_[0]
        elif positive.any():
            bias[kind] = 1
    return weights, bias


def with_32_bits(matrix: sp.csr_array) -> sp.csr_array:
    """Return the matrix with the 32-bit indices that scikit-learn requires."""
    narrow = sp.csr_array(matrix)
    narrow.indices, narrow.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return narrow
