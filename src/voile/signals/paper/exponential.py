"""Theorem 3: exponential readings, made alike by their scale."""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from voile.keys.random import RandomState
from voile.signals.codec.pieces import Floats
from voile.signals.codec.steps import Affine
from voile.signals.methods.fitted import SCORES, Fitted, Sample, plain, refuse_below


class Exponential:
    """Divide each column by its class's mean: z = x / mean, exponential with mean 1.

    Perfect where the columns of each class are exponential and independent.
    """

    def fit(self, sample: Sample, random_state: RandomState) -> Fitted:
        """Estimate each class's means; O(n d)."""
        refuse_below(sample, 0.0, "exponential")
        frames = tuple(frame(X.mean(axis=0)) for X in sample.by_class())
        d = len(sample.cells)
        return Fitted(sample.shares, frames, ((),) * len(frames), law(d), plain(d))


def frame(mean: Floats) -> Affine:
    """Return the frame of exponential columns with these means."""
    return Affine(np.diag(mean), np.zeros(len(mean)))


def law(d: int) -> Floats:
    """Return the exponential law with mean 1, in d columns."""
    return np.tile(-log_ndtr(-SCORES), (d, 1))
