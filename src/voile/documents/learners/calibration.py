"""Learn from margins the probability that tokens identify a person."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.documents.model.classifiers.calibration import Floats, IsotonicCalibration, check_finite
from voile.documents.model.classifiers.classifier import Margins


def fit_calibration(
    margins: Margins, labels: NDArray[np.int16], counted: NDArray[np.bool_]
) -> IsotonicCalibration:
    """Fit isotonic curves to the counted tokens. Cost: O(n log n) for each type.

    The ends of a curve may contain tokens of only one class. For m such tokens the probability is 1
    / (m + 1) or m / (m + 1). If the neighbouring segment's probability is closer to 0 or 1, that
    value is used. So no probability is exactly 0 or 1.
    """
    if not counted.any():
        raise RequestError("no token to learn probabilities from", instead="give more text")
    seen, labels = check_finite(margins[counted]), labels[counted]
    curves = [_curve(seen[:, t], labels == t + 1) for t in range(seen.shape[1])]
    none = np.zeros(0)
    return IsotonicCalibration(
        np.concatenate([none, *(knots for knots, _ in curves)]),
        np.concatenate([none, *(chances for _, chances in curves)]),
        np.cumsum([0, *(len(knots) for knots, _ in curves)], dtype=np.intp),
    )


def _curve(margins: Floats, positive: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    from scipy.optimize import isotonic_regression

    values, place, total = np.unique(margins, return_inverse=True, return_counts=True)
    hits = np.bincount(place, weights=positive, minlength=len(values))
    fitted = isotonic_regression(hits / total, weights=total)
    starts, ends = fitted.blocks[:-1], fitted.blocks[1:] - 1
    share, size = fitted.x[starts], fitted.weights
    found = np.add.reduceat(hits, starts)
    if found[0] == 0:  # the first segment must not exceed the next one
        share[0] = min([1 / (size[0] + 1), *share[1:2]])
    if found[-1] == size[-1]:
        share[-1] = max([size[-1] / (size[-1] + 1), *share[-2:-1]])
    both = np.stack([starts, ends], axis=1).ravel()
    kept = np.append(True, both[1:] != both[:-1])
    return values[both[kept]], np.repeat(share, 2)[kept]
