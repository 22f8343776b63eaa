"""Compiled look at the other tokens of the same form in a document."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def others(
    values: Floats, form: NDArray[np.int32], first: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return of the other tokens of each token's form in its document how many there are, (n,),
    and the mean and the highest of their values, (n, T); 0 where there are none.

    Parameters
    ----------
    values : (n, T). form : (n,) numbers. first : (d + 1,) where each document begins.

    Cost: O(n log n + n T).
    """
    document = np.repeat(np.arange(len(first) - 1), np.diff(first))
    key = document * (int(form.max(initial=0)) + 1) + form
    _, group, size = np.unique(key, return_inverse=True, return_counts=True)
    mean, highest = _others(np.ascontiguousarray(values), group, size)
    return size[group] - 1, mean, highest


@njit(cache=True, nogil=True)
def _others(
    values: Floats, group: NDArray[np.intp], size: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    n, types = values.shape
    total = np.zeros((len(size), types))
    top = np.full((len(size), types), -np.inf)
    second = np.full((len(size), types), -np.inf)
    for i in range(n):
        g = group[i]
        for t in range(types):
            value = values[i, t]
            total[g, t] += value
            if value > top[g, t]:
                second[g, t], top[g, t] = top[g, t], value
            elif value > second[g, t]:
                second[g, t] = value
    mean, highest = np.zeros((n, types)), np.zeros((n, types))
    for i in range(n):
        g = group[i]
        if size[g] > 1:
            for t in range(types):
                mean[i, t] = (total[g, t] - values[i, t]) / (size[g] - 1)
                highest[i, t] = second[g, t] if values[i, t] == top[g, t] else top[g, t]
    return mean, highest
