"""The maps of Theorems 2 to 5: each hides the class perfectly if readings are of its family.

A frame takes the law that all classes share to one class's readings; a map is its inverse.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammainccinv, gammaincinv, gammaln, log_ndtr, ndtr, polygamma

from voile.core.errors import RequestError
from voile.keys.random import RandomState
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.place import ReadingPlace
from voile.signals.model.codec.steps import AffineMap
from voile.signals.model.maps import fitted

DIFFERENT = 1e-3  # shapes differ when a likelihood-ratio test says so at this level


def _build_fitted(
    sample: fitted.ClassSample, frames: Iterable[AffineMap], law: Floats
) -> fitted.FittedLaws:
    each = tuple(frames)
    return fitted.FittedLaws(sample.shares, each, ((),) * len(each), law, fitted.plain(len(law)))


class NormalForm:
    """Theorem 2: whiten each class symmetrically, z = S^(-1/2) (x - m).

    Perfect where each class is normal: then no adversary learns from z, whatever its p(c | s).
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Estimate mean and covariance of each class, the dither's part added; O(n d^2)."""
        dither = np.diag(sample.cells**2 / 12)
        frames = (
            normal_frame(X.mean(axis=0), np.atleast_2d(np.cov(X.T, bias=True)) + dither)
            for X in sample.by_class()
        )
        return _build_fitted(sample, frames, fitted.normal_law(len(sample.cells)))


def normal_frame(mean: Floats, covariance: Floats) -> AffineMap:
    """Return the frame of a normal law: its mean, and the symmetric root of its covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return AffineMap((vectors * np.sqrt(values)) @ vectors.T, mean)


class ExponentialForm:
    """Theorem 3: divide each column by its class's mean, z = x / mean.

    Perfect where the columns of each class are exponential and independent.
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Estimate each class's means; O(n d)."""
        fitted.refuse_below(sample, 0.0, "exponential")
        frames = (scale_frame(X.mean(axis=0)) for X in sample.by_class())
        return _build_fitted(sample, frames, exponential_law(len(sample.cells)))


def scale_frame(scale: Floats) -> AffineMap:
    """Return the frame of columns in units of these scales: exponential, or gamma."""
    return AffineMap(np.diag(scale), np.zeros(len(scale)))


def exponential_law(d: int) -> Floats:
    """Return the exponential law with mean 1, in d columns."""
    return np.tile(-log_ndtr(-fitted.SCORES), (d, 1))


class GammaForm:
    """Theorem 4: divide each column by its class's scale, z = x / scale.

    Perfect where the columns of each class are independent gammas and a column's shape is the
    same in every class. The shape is fitted to all classes together, by maximum likelihood.
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Fit, or refuse shapes that differ between classes; O(n d)."""
        fitted.refuse_below(sample, np.nextafter(0, 1), "gamma")
        parts = sample.by_class()
        mean = np.stack([X.mean(axis=0) for X in parts])
        gap = np.log(mean) - np.stack([np.log(X).mean(axis=0) for X in parts])
        n = np.bincount(sample.c)
        shapes = np.array([common_shape(own, n, ReadingPlace(j)) for j, own in enumerate(gap.T)])
        return _build_fitted(sample, (scale_frame(row / shapes) for row in mean), gamma_law(shapes))


def common_shape(gap: Floats, n: NDArray[np.intp], where: ReadingPlace) -> float:
    """Return the shape that fits all classes best, or refuse shapes that truly differ.

    `gap`, (k,), is the log of a class's mean less the mean of its logs; `n`, (k,), its readings.
    """
    together = _shape(float(gap @ n / n.sum()))
    own = np.array([_shape(one) for one in gap])
    excess = 2 * float(n @ (_likelihood(own, gap) - _likelihood(np.array(together), gap)))
    if len(n) > 1 and chdtrc(len(n) - 1, excess) < DIFFERENT:
        raise RequestError(
            "the classes have different gamma shapes, which no scaling makes alike",
            where=where,
            instead="use the method transport",
        )
    return together


def _shape(gap: float) -> float:
    """Solve log k - digamma(k) = gap, whose left side falls from infinity to 0."""
    from scipy.optimize import brentq  # a third of a second to import

    if gap <= 0:
        raise RequestError("a column is constant within a class")
    return float(brentq(lambda k: np.log(k) - polygamma(0, k) - gap, 0.1 / gap, 2 / gap))


def _likelihood(k: Floats, gap: Floats) -> Floats:
    """Return the mean log-likelihood at shape k and the best scale, without terms free of k."""
    best: Floats = k * np.log(k) - gammaln(k) - k * gap - k
    return best


def gamma_law(shapes: Floats) -> Floats:
    """Return the gamma laws of scale 1 and these shapes."""
    low, high = fitted.SCORES[fitted.SCORES <= 0], fitted.SCORES[fitted.SCORES > 0]
    return np.stack(
        [np.concatenate([gammaincinv(k, ndtr(low)), gammainccinv(k, ndtr(-high))]) for k in shapes]
    )


class UniformForm:
    """Theorem 5: take each column from its class's range to 0..1, z = (x - low) / (high - low).

    Perfect where the columns of each class are uniform and independent. The boundaries are the
    observed range, each moved out by a share of it, so that they are unbiased. They depend on two
    readings, and the map is as private as those two.
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Estimate each class's boundaries; O(n d)."""
        frames = (_range_frame(X, sample.cells) for X in sample.by_class())
        return _build_fitted(sample, frames, uniform_law(len(sample.cells)))


def _range_frame(X: Floats, cells: Floats) -> AffineMap:
    low, high = X.min(axis=0), X.max(axis=0)
    more = (high - low) / (len(X) - 1)
    # on a coarse lattice the range is seen whole: then only half a cell is missing
    more = np.maximum(np.where(more < cells, 0.0, more), cells / 2)
    return uniform_frame(low - more, high + more)


def uniform_frame(low: Floats, high: Floats) -> AffineMap:
    return AffineMap(np.diag(high - low), low)


def uniform_law(d: int) -> Floats:
    """Return the uniform law on 0..1, in d columns."""
    return np.tile(ndtr(fitted.SCORES), (d, 1))
