"""Bayes' rule over classes and readings, for a recipient who does not know the class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.signals.model.codec.pieces import Floats

STEP = 1e-4  # step of a numerical slope, in standard deviations
OFF = 1e-6  # tolerance of the sum of probabilities


@dataclass(frozen=True, eq=False)
class ClassPosterior:
    chances: Floats  # (n, k) p(c | z, s) of each class
    readings: NDArray[Any]  # (k, n, d) by class: reading k of message i has probability [i, k]


def chances_of(prior: ArrayLike, n: int, k: int) -> Floats:
    """Return class probabilities, (n, k), given one row for all messages or one per message.

    Raises
    ------
    RequestError : a probability is negative, or a row does not sum to 1.
    """
    given = np.asarray(prior, dtype=np.float64)
    if given.shape not in ((k,), (n, k)) or not (given >= 0).all():
        raise RequestError(f"chances of {k} classes must be numbers from 0 up", where="prior")
    if (np.abs(given.sum(axis=-1) - 1) > OFF).any():
        raise RequestError("the chances of the classes are not of sum 1", where="prior")
    return np.broadcast_to(given, (n, k))


def after(prior: Floats, logs: Floats) -> Floats:
    """Return p(c | z), (n, k), given prior probabilities and log p(z | c), both (n, k)."""
    weight = prior * np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def log_densities(score: Callable[[Floats, int], Floats], classes: int, V: Floats) -> Floats:
    """Return the log-density of (d, n) messages in each class, (n, k), up to a constant."""
    if not V.size:
        return np.zeros((V.shape[1], classes))
    # if all messages are equal, use a spread of 1
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
