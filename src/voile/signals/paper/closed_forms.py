"""The maps of Theorems 2 to 5, each for one family of distributions.

A map hides the class perfectly if the readings of each class follow its family. A frame takes the
law that all classes share to the readings of one class. A map is the inverse of a frame.
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

DIFFERENT = 1e-3  # significance level of the likelihood-ratio test for different shapes


def _build_fitted(
    sample: fitted.ClassSample, frames: Iterable[AffineMap], law: Floats
) -> fitted.FittedLaws:
    each = tuple(frames)
    return fitted.FittedLaws(sample.shares, each, ((),) * len(each), law, fitted.plain(len(law)))


class NormalForm:
    """The map of Theorem 2, which whitens each class symmetrically: z = S^(-1/2) (x - m).

    Here m and S are the mean and the covariance of the class. The map is perfect if each class is
    normal: z then reveals nothing to any adversary, for every belief p(c | s).
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Estimate the mean and covariance of each class; O(n d^2).

        The covariance includes the variance of the dither.
        """
        dither = np.diag(sample.cells**2 / 12)
        frames = (
            normal_frame(X.mean(axis=0), np.atleast_2d(np.cov(X.T, bias=True)) + dither)
            for X in sample.by_class()
        )
        return _build_fitted(sample, frames, fitted.normal_law(len(sample.cells)))


def normal_frame(mean: Floats, covariance: Floats) -> AffineMap:
    """Return the frame of a normal law: its mean and the symmetric root of its covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return AffineMap((vectors * np.sqrt(values)) @ vectors.T, mean)


class ExponentialForm:
    """The map of Theorem 3, which divides each column by its class's mean: z = x / mean.

    The map is perfect if the columns of each class are exponential and independent.
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Estimate the mean of each column in each class; O(n d)."""
        fitted.refuse_below(sample, 0.0, "exponential")
        frames = (scale_frame(X.mean(axis=0)) for X in sample.by_class())
        return _build_fitted(sample, frames, exponential_law(len(sample.cells)))


def scale_frame(scale: Floats) -> AffineMap:
    """Return the frame that multiplies columns by these scales (exponential or gamma)."""
    return AffineMap(np.diag(scale), np.zeros(len(scale)))


def exponential_law(d: int) -> Floats:
    """Return the exponential law with mean 1 in d columns."""
    return np.tile(-log_ndtr(-fitted.SCORES), (d, 1))


class GammaForm:
    """The map of Theorem 4, which divides each column by its class's scale: z = x / scale.

    The map is perfect if the columns of each class are independent gamma variables and each column
    has the same shape in every class. The shape is fitted to all classes together, by maximum
    likelihood.
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Fit the shape of each column and the scales of each class; O(n d).

        Raises
        ------
        RequestError : a value is not above 0, or the shapes of a column differ between classes.
        """
        fitted.refuse_below(sample, np.nextafter(0, 1), "gamma")
        parts = sample.by_class()
        mean = np.stack([X.mean(axis=0) for X in parts])
        gap = np.log(mean) - np.stack([np.log(X).mean(axis=0) for X in parts])
        n = np.bincount(sample.c)
        shapes = np.array([common_shape(own, n, ReadingPlace(j)) for j, own in enumerate(gap.T)])
        return _build_fitted(sample, (scale_frame(row / shapes) for row in mean), gamma_law(shapes))


def common_shape(gap: Floats, n: NDArray[np.intp], where: ReadingPlace) -> float:
    """Return the gamma shape that fits all classes best.

    Parameters
    ----------
    gap : (k,) for each class, the log of its mean minus the mean of its logs.
    n : (k,) number of readings of each class.

    Raises
    ------
    RequestError : a likelihood-ratio test shows that the classes have different shapes.
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
    """Solve log k - digamma(k) = gap for k; the left side falls from infinity to 0."""
    from scipy.optimize import brentq  # importing it takes a third of a second

    if gap <= 0:
        raise RequestError("a column is constant within a class")
    return float(brentq(lambda k: np.log(k) - polygamma(0, k) - gap, 0.1 / gap, 2 / gap))


def _likelihood(k: Floats, gap: Floats) -> Floats:
    """Return the mean log-likelihood at shape k and the best scale, up to a constant."""
    best: Floats = k * np.log(k) - gammaln(k) - k * gap - k
    return best


def gamma_law(shapes: Floats) -> Floats:
    """Return the gamma laws with scale 1 and these shapes."""
    low, high = fitted.SCORES[fitted.SCORES <= 0], fitted.SCORES[fitted.SCORES > 0]
    return np.stack(
        [np.concatenate([gammaincinv(k, ndtr(low)), gammainccinv(k, ndtr(-high))]) for k in shapes]
    )


class UniformForm:
    """Theorem 5: scale each column from its class's range to 0..1, z = (x - low) / (high - low).

    The map is perfect if the columns of each class are uniform and independent. The boundaries are
    the observed range, extended at each end by a share of it so that they are unbiased. They depend
    on two readings, so the map is only as private as those two readings.
    """

    def fit(self, sample: fitted.ClassSample, random_state: RandomState) -> fitted.FittedLaws:
        """Estimate the boundaries of each class; O(n d)."""
        frames = (_range_frame(X, sample.cells) for X in sample.by_class())
        return _build_fitted(sample, frames, uniform_law(len(sample.cells)))


def _range_frame(X: Floats, cells: Floats) -> AffineMap:
    low, high = X.min(axis=0), X.max(axis=0)
    more = (high - low) / (len(X) - 1)
    # a coarse lattice shows the whole range, so only half a cell is missing at each end
    more = np.maximum(np.where(more < cells, 0.0, more), cells / 2)
    return uniform_frame(low - more, high + more)


def uniform_frame(low: Floats, high: Floats) -> AffineMap:
    return AffineMap(np.diag(high - low), low)


def uniform_law(d: int) -> Floats:
    """Return the uniform law on 0..1 in d columns."""
    return np.tile(ndtr(fitted.SCORES), (d, 1))
