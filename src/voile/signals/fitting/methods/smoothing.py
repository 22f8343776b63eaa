"""Marginal maps from smoothed distributions, with even knots that are no one's values."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from voile.signals.model.codec.pieces import Floats

SPACING = 0.05
STEEP = 50.0  # bounds a curve's slope and its reciprocal, so that decoding stays exact


def grid_over(W: Floats) -> Floats:
    """Return even knots that span -6..6 and all of `W`, up to 12 standard deviations."""
    reach = float(np.clip(np.ceil(np.abs(W).max()) + 1, 6, 12))
    steps = round(reach / SPACING)
    return np.arange(-steps, steps + 1, dtype=np.float64) * SPACING


def tails(v: Floats, grid: Floats, bandwidth: float) -> Floats:
    """Return the lower and upper tail probabilities, (2, g), of `v` smoothed by a normal kernel.

    The readings are first shrunk so that smoothing preserves their variance (Jones 1991). A
    bandwidth near 1 gives the normal law, one near 0 the readings themselves. Cost: O(n + g^2).
    """
    centres = v.mean() + (v - v.mean()) * np.sqrt(1 - bandwidth**2)
    place = np.clip((centres - grid[0]) / SPACING, 0, len(grid) - 1.001)
    left = place.astype(np.intp)
    share = place - left
    weight = np.bincount(left, 1 - share, len(grid)) + np.bincount(left + 1, share, len(grid))
    apart = np.arange(-len(grid) + 1, len(grid)) * (SPACING / bandwidth)
    # a Fourier transform is too inexact in the tails
    both = [np.convolve(kernel, weight, mode="valid") for kernel in (ndtr(apart), ndtr(-apart))]
    return np.stack(both) / len(v)


def curve_of(mixed: Floats, grid: Floats) -> Floats:
    """Return the normal scores, (g,), of the law with lower and upper tails `mixed`, (2, g)."""
    lower, upper = np.maximum(mixed, 1e-300)
    scores = np.where(lower < upper, ndtri(lower), -ndtri(upper))
    rises = np.clip(np.diff(scores), SPACING / STEEP, SPACING * STEEP)
    middle = len(grid) // 2
    curve = np.concatenate([[0.0], np.cumsum(rises)])
    curve += scores[middle] - curve[middle]
    return curve


def normal_tails(grid: Floats) -> Floats:
    return np.stack([ndtr(grid), ndtr(-grid)])
