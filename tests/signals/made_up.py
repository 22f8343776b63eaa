"""Readings that every method can be fitted to: two independent gamma columns, three classes."""

from __future__ import annotations

import functools
import warnings

import numpy as np

from voile.signals import PrivacyMap, SignalsWarning
from voile.signals.paper.affine import LearnedAffine

SCALES = np.array([[2.0, 1.0], [3.5, 0.6], [6.0, 2.0]])
SHAPES = np.array([4.0, 3.0])
NAMES = np.array(["low", "middle", "top"])
METHODS = {
    "transport": "transport",
    "normal": "normal",
    "exponential": "exponential",
    "gamma": "gamma",
    "uniform": "uniform",
    "affine": LearnedAffine(evaluations=200),
}


def readings(n, seed, *, places=1):
    """Draw n readings above 0 of shares .2, .5 and .3."""
    rng = np.random.default_rng(seed)
    c = rng.choice(3, n, p=[0.2, 0.5, 0.3])
    X = np.round(rng.gamma(SHAPES, SCALES[c]) + 10.0**-places, places)
    return X, NAMES[c]


@functools.cache
def fitted(name, n=600):
    """Fit a method once for all tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SignalsWarning)
        return PrivacyMap(method=METHODS[name], random_state=1).fit(*readings(n, 1))


class Draws:
    """A protective source of draws that are given, 64 bits each."""

    def __init__(self, whole):
        self.data = np.array(whole, dtype=np.uint64).astype("<u8").tobytes()

    def bytes(self, n):
        given, self.data = self.data[:n], self.data[n:]
        return given
