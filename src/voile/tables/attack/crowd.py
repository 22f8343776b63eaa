"""Estimate how many more released people share values if small groups were suppressed.

Released people who show the same values are rivals for the register's entries. If strangers agree
with chance Q, about density x Q others equal a record (Poisson). A register of the same people
counts them among its strangers. If small groups were suppressed, every record has more. The
smallest group shows the size from which groups are released.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtr, pdtrc, xlogy  # scipy.stats takes a second to import

Floats = NDArray[np.float64]

STEPS = 50
SURE = 3.0  # so many smaller groups are expected and none is there: 5% by chance


def surplus(alike: NDArray[np.int64], chance: Floats) -> Floats:
    """Return how many more people equal each record (c,) than without suppression."""
    fewest = int(alike.min()) if len(alike) else 1
    smaller = pdtr(fewest - 1, density(alike, chance, 1) * chance)
    if smaller.sum() < SURE:
        return np.zeros(len(alike))
    return _raise_mean(density(alike, chance, fewest) * chance, fewest)


def density(alike: NDArray[np.int64], chance: Floats, fewest: int) -> float:
    """Return the others equal to a record over its chance, for groups of `fewest` and more.

    The solution has as many equal people, on average over the subjects, as the release.
    """
    found, seen = float(np.sum(alike)), float(alike @ (alike - fewest))
    for _ in range(STEPS):
        mean = found * chance
        expected = float(alike @ (mean + _raise_mean(mean, fewest) - (fewest - 1)))
        found *= seen / expected if expected > 0 else 0.0
    return found


def _raise_mean(mean: Floats, fewest: int) -> Floats:
    """Return how far the mean of a Poisson number rises when it is `fewest` - 1 or more."""
    if fewest < 2:
        return np.zeros(len(mean))
    k = fewest - 2
    upper = pdtrc(k, mean)
    at = np.exp(xlogy(k, mean) - gammaln(k + 1) - mean)  # the chance of k
    risen = mean * at / np.where(upper > 0, upper, 1)
    return np.where(upper > 0, np.minimum(risen, fewest - 1), fewest - 1.0)
