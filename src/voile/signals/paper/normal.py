"""Theorem 2: normal readings, made alike by symmetric whitening."""

from __future__ import annotations

import numpy as np

from voile.keys.random import RandomState
from voile.signals.codec.pieces import Floats
from voile.signals.codec.steps import Affine
from voile.signals.methods.fitted import Fitted, Sample, normal_law, plain


class Normal:
    """Whiten each class symmetrically: z = S^(-1/2) (x - m).

    Perfect where each class is normal: then no p(c | s) whatever learns anything from z.
    """

    def fit(self, sample: Sample, random_state: RandomState) -> Fitted:
        """Estimate mean and covariance of each class, the dither's part added; O(n d^2)."""
        frames = tuple(frame_of(X, sample.cells) for X in sample.by_class())
        d = len(sample.cells)
        return Fitted(sample.shares, frames, ((),) * len(frames), normal_law(d), plain(d))


def frame_of(X: Floats, cells: Floats) -> Affine:
    """Return the frame of (n, d) readings that are dithered within cells of these widths."""
    covariance = np.atleast_2d(np.cov(X.T, bias=True))
    return frame(X.mean(axis=0), covariance + np.diag(cells**2 / 12))


def frame(mean: Floats, covariance: Floats) -> Affine:
    """Return the frame of a normal law: its mean, and the symmetric root of its covariance."""
    values, vectors = np.linalg.eigh(covariance)
    return Affine((vectors * np.sqrt(values)) @ vectors.T, mean)
