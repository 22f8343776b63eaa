"""Logistic regressions of what learners say of tokens: margins in log-odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.documents.learners.learner import Examples

Floats = NDArray[np.float64]

FAR = 8.0
"""Log-odds of what is always or never there."""


def regressions(seen: Floats, examples: Examples) -> tuple[Floats, Floats]:
    """Return for each type the weights of what is told of a token, (T, k), and a bias, (T,).

    A type that no token has is never found; one that every token has is always.

    Parameters
    ----------
    seen : (n, T, k) what is told of each token for each type.
    """
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    seen, labels = seen[examples.counted], examples.labels[examples.counted]
    weights, bias = np.zeros(seen.shape[1:]), np.full(examples.types, -FAR)
    for kind in range(examples.types):
        positive = labels == kind + 1
        if positive.any() and not positive.all():
            fitted = LogisticRegression(max_iter=500).fit(seen[:, kind], positive)
            weights[kind], bias[kind] = fitted.coef_[0], fitted.intercept_[0]
        elif positive.any():
            bias[kind] = FAR
    return weights, bias
