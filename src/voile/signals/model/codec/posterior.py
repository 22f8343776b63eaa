"""A recipient who is not sure of the class: Bayes' rule over classes and readings, NumPy alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.signals.model.codec.pieces import Floats

STEP = 1e-4  # of a numerical slope, in standard deviations
OFF = 1e-6  # what chances may miss of 1


@dataclass(frozen=True, eq=False)
class ClassPosterior:
    chances: Floats  # (n, k) p(c | z, s) of each class
    readings: NDArray[Any]  # (k, n, d) of each class: reading k of message i has chance [i, k]


def chances_of(prior: ArrayLike, n: int, k: int) -> Floats:
    """Return chances of classes, (n, k), of all rows alike or each its own, or refuse them."""
    given = np.asarray(prior, dtype=np.float64)
    if given.shape not in ((k,), (n, k)) or not (given >= 0).all():
        raise RequestError(f"chances of {k} classes must be numbers from 0 up", where="prior")
    if (np.abs(given.sum(axis=-1) - 1) > OFF).any():
        raise RequestError("the chances of the classes are not of sum 1", where="prior")
    return np.broadcast_to(given, (n, k))


def after(prior: Floats, logs: Floats) -> Floats:
    """Return p(c | z) of chances beforehand and log p(z | c), both (n, k)."""
    weight = prior * np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def log_densities(score: Callable[[Floats, int], Floats], classes: int, V: Floats) -> Floats:
    """Return the log-density of (d, n) messages in each class, (n, k), but for a constant."""
    if not V.size:
        return np.zeros((V.shape[1], classes))
    # messages may all be equal: then steps are as long as if they spread by 1
    spread = V.std(axis=1)
    widths = STEP * np.where(spread > 0, spread, 1.0)
    columns = []
    for which in range(classes):
        slopes = [
            (score(V + step[:, None], which) - score(V - step[:, None], which)) / (2 * width)
            for step, width in zip(np.diag(widths), widths, strict=True)
        ]
        W = score(V, which)
        determinant = np.abs(np.linalg.det(np.stack(slopes).transpose(2, 0, 1)))
        columns.append(np.log(np.maximum(determinant, 1e-300)) - 0.5 * (W * W).sum(axis=0))
    return np.stack(columns, axis=1)
