"""Estimate how many more released people share values if small groups were suppressed.

Released people with the same values compete for the register's entries. If strangers agree with
probability Q, about density x Q others are equal to a record (Poisson). A register of the same
people counts them among its strangers. If small groups were suppressed, every released record has
more equal people. The size of the smallest group shows the limit below which groups were
suppressed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, pdtr, pdtrc, xlogy  # scipy.stats takes a second to import

Floats = NDArray[np.float64]

STEPS = 50
SURE = 3.0  # expected smaller groups for a probability of 5% that there is none


def surplus(alike: NDArray[np.int64], chance: Floats) -> Floats:
    """Return how many more people equal each record (c,) than without suppression.

    The result is 0 if the absence of smaller groups may be due to chance.
    """
    fewest = int(alike.min()) if len(alike) else 1
    smaller = pdtr(fewest - 1, density(alike, chance, 1) * chance)
    if smaller.sum() < SURE:
        return np.zeros(len(alike))
    return _raise_mean(density(alike, chance, fewest) * chance, fewest)


def density(alike: NDArray[np.int64], chance: Floats, fewest: int) -> float:
    """Return the ratio of the number of people equal to a record to its probability.

    Only groups of `fewest` people or more are released. With the returned density, the expected
    number of equal people is that of the release, on average over subjects.
    """
    found, seen = float(np.sum(alike)), float(alike @ (alike - fewest))
    for _ in range(STEPS):
        mean = found * chance
        expected = float(alike @ (mean + _raise_mean(mean, fewest) - (fewest - 1)))
        found *= seen / expected if expected > 0 else 0.0
    return found


def _raise_mean(mean: Floats, fewest: int) -> Floats:
    """Return how much the mean of a Poisson variable rises if it is at least `fewest` - 1."""
    if fewest < 2:
        return np.zeros(len(mean))
    k = fewest - 2
    upper = pdtrc(k, mean)
    at = np.exp(xlogy(k, mean) - gammaln(k + 1) - mean)  # the probability of k
    risen = mean * at / np.where(upper > 0, upper, 1)
    return np.where(upper > 0, np.minimum(risen, fewest - 1), fewest - 1.0)
