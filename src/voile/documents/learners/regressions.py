"""Learn weights of the regressors of each token by logistic regression."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.learner import LabelledExamples

FAR = 8.0
"""The log-odds of a type that no token has, or that every token has."""


def fit_regressions(
    seen: NDArray[np.float64], examples: LabelledExamples
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights, (T, k), and the bias, (T,), of each type's regressors, (n, T, k).

    A type that no token has is never predicted. A type that every token has is always predicted.
    """
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    labels = examples.labels[examples.counted]
    weights, bias = np.zeros(seen.shape[1:]), np.full(examples.types, -FAR)
    for kind in range(examples.types):
        positive = labels == kind + 1
        if positive.any() and not positive.all():
            fitted = LogisticRegression(max_iter=500).fit(seen[examples.counted, kind], positive)
            weights[kind], bias[kind] = fitted.coef_[0], fitted.intercept_[0]
        elif positive.any():
            bias[kind] = FAR
    return weights, bias
