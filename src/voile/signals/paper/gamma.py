"""Theorem 4: gamma readings of one common shape, made alike by their scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammainccinv, gammaincinv, gammaln, ndtr, polygamma
from scipy.stats import chi2

from voile.core.errors import RequestError
from voile.keys.random import RandomState
from voile.signals.codec.pieces import Floats
from voile.signals.codec.place import Place
from voile.signals.codec.steps import Affine
from voile.signals.methods.fitted import SCORES, Fitted, Sample, plain, refuse_below

DIFFERENT = 1e-3  # shapes differ when a likelihood-ratio test says so at this level


class Gamma:
    """Divide each column by its class's scale: z = x / scale, gamma with the common shape.

    Perfect where the columns of each class are independent gammas and a column's shape is the
    same in every class. The shape is fitted to all classes together, by maximum likelihood.
    """

    def fit(self, sample: Sample, random_state: RandomState) -> Fitted:
        """Fit, or refuse shapes that differ between classes; O(n d)."""
        refuse_below(sample, np.nextafter(0, 1), "gamma")
        parts = sample.by_class()
        mean = np.stack([X.mean(axis=0) for X in parts])
        gap = np.log(mean) - np.stack([np.log(X).mean(axis=0) for X in parts])
        d = len(sample.cells)
        n = np.bincount(sample.c)
        shapes = np.array([common_shape(gap[:, j], n, Place(j)) for j in range(d)])
        frames = tuple(frame(row / shapes) for row in mean)
        return Fitted(sample.shares, frames, ((),) * len(frames), law(shapes), plain(d))


def common_shape(gap: Floats, n: NDArray[np.intp], where: Place) -> float:
    """Return the shape that fits all classes best."""
    together = _shape(float(gap @ n / n.sum()))
    own = np.array([_shape(one) for one in gap])
    excess = 2 * float(n @ (_likelihood(own, gap) - _likelihood(np.array(together), gap)))
    if len(n) > 1 and chi2.sf(excess, len(n) - 1) < DIFFERENT:
        raise RequestError(
            "the classes have different gamma shapes, which no scaling makes alike",
            where=where,
            instead="use the method transport",
        )
    return together


def _shape(gap: float) -> float:
    """Solve log k - digamma(k) = gap, whose left side falls from infinity to 0."""
    if gap <= 0:
        raise RequestError("a column is constant within a class")
    return float(brentq(lambda k: np.log(k) - polygamma(0, k) - gap, 0.1 / gap, 2 / gap))


def _likelihood(k: Floats, gap: Floats) -> Floats:
    """Return the mean log-likelihood at shape k and the best scale, less what k leaves alone."""
    best: Floats = k * np.log(k) - gammaln(k) - k * gap - k
    return best


def frame(scale: Floats) -> Affine:
    """Return the frame of gamma columns: in units of their scale."""
    return Affine(np.diag(scale), np.zeros(len(scale)))


def law(shapes: Floats) -> Floats:
    """Return the gamma laws of scale 1 and these shapes."""
    low, high = SCORES[SCORES <= 0], SCORES[SCORES > 0]
    return np.stack(
        [np.concatenate([gammaincinv(k, ndtr(low)), gammainccinv(k, ndtr(-high))]) for k in shapes]
    )
