"""Theorem 5: uniform readings, made alike by their range."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from voile.keys.random import RandomState
from voile.signals.codec.pieces import Floats
from voile.signals.codec.steps import Affine
from voile.signals.methods.fitted import SCORES, Fitted, Sample, plain


class Uniform:
    """Take each column from its class's range to 0..1: z = (x - low) / (high - low).

    Perfect where the columns of each class are uniform and independent. The ends are the range
    seen, each moved out by a share of it, so that they are unbiased; they rest on two readings,
    which makes this map as private as those.
    """

    def fit(self, sample: Sample, random_state: RandomState) -> Fitted:
        """Estimate each class's ends; O(n d)."""
        frames = tuple(_frame_of(X, sample.cells) for X in sample.by_class())
        d = len(sample.cells)
        return Fitted(sample.shares, frames, ((),) * len(frames), law(d), plain(d))


def _frame_of(X: Floats, cells: Floats) -> Affine:
    low, high = X.min(axis=0), X.max(axis=0)
    more = (high - low) / (len(X) - 1)
    # on a coarse lattice the range is seen whole: then only half a cell is missing
    more = np.maximum(np.where(more < cells, 0.0, more), cells / 2)
    return frame(low - more, high + more)


def frame(low: Floats, high: Floats) -> Affine:
    """Return the frame of uniform columns between these ends."""
    return Affine(np.diag(high - low), low)


def law(d: int) -> Floats:
    """Return the uniform law on 0..1, in d columns."""
    return np.tile(ndtr(SCORES), (d, 1))
