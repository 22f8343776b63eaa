"""Readings of subjects day by day: two classes that swing apart, a height that stays."""

from __future__ import annotations

import functools
import warnings

import numpy as np

from voile.signals import SequenceMap, SignalsWarning
from voile.signals.fitting.methods.layers import LayerChain

NAMES = np.array(["calm", "wild"])
SHARES = np.array([0.4, 0.6])
SWING = np.array([0.4, 1.2])
KEPT = np.array([0.1, 0.7])


def days(n, length, seed):
    """Draw height and weight, (n * length, 2), classes, and whose each reading is."""
    rng = np.random.default_rng(seed)
    c = rng.choice(2, n, p=SHARES)
    height = 165 + 8 * rng.normal(size=n)
    level = 0.5 * (height - 165) + np.where(c == 0, 70, 84) + 7 * rng.normal(size=n)
    swing = rng.normal(size=(n, length))
    for t in range(1, length):
        kept = KEPT[c]
        swing[:, t] = kept * swing[:, t - 1] + np.sqrt(1 - kept**2) * swing[:, t]
    weight = level[:, None] + SWING[c][:, None] * swing
    X = np.stack([np.repeat(height, length), weight.ravel()], axis=1)
    whose = np.repeat(np.arange(n), length)
    return np.round(X, 1), NAMES[c[whose]], whose


@functools.cache
def fitted(*invariants):
    """Fit once for all tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        quick = LayerChain(degree=3, spread=1)
        return SequenceMap(invariants, settings=quick, random_state=0).fit(*days(400, 8, 1))
