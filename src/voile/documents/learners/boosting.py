"""Compiled boosting of decision stumps over sparse columns of 0 and 1."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def boost(
    indptr: Ints,
    indices: Ints,
    column_first: Ints,
    holders: Ints,
    positive: NDArray[np.bool_],
    weight: Floats,
    rounds: int,
    columns: int,
    discrete: bool,
    eps: float,
) -> tuple[Floats, float]:
    sums = np.zeros((2, columns))
    total = np.zeros(2)
    for i in range(len(positive)):
        total[int(positive[i])] += weight[i]
    weight = weight / total.sum()
    total = total / total.sum()
    for i in range(len(positive)):
        for p in range(indptr[i], indptr[i + 1]):
            sums[int(positive[i]), indices[p]] += weight[i]
    found, bias = np.zeros(columns), 0.0
    scale = np.ones(2)
    for r in range(rounds):
        best, at = np.inf, -1
        for j in range(columns):
            bad, good = scale[0] * sums[0, j], scale[1] * sums[1, j]
            z = scale[0] * total[0] - bad
            g = scale[1] * total[1] - good
            if discrete:
                e = bad + g
                e = min(e, 1 - e)
            else:
                e = np.sqrt(max(bad, 0.) * max(good, 0.)) + np.sqrt(max(z, 0.) * max(g, 0.))
            if e < best:
                best, at = e, j
        bad, good = max(scale[0] * sums[0, at], 0), max(scale[1] * sums[1, at], 0)
        z = max(scale[0] * total[0] - bad, 0)
        g = max(scale[1] * total[1] - good, 0)
        if discrete:
            e = bad + g
            c1 = 0.5 * np.log((1 - e + eps) / (e + eps))
            c0 = -c1
        else:
            c1 = 0.5 * np.log((good + eps) / (bad + eps))
            c0 = 0.5 * np.log((g + eps) / (z + eps))
        found[at] += c1 - c0
        bias += c0
        f0, f1 = np.exp(c1 - c0), np.exp(c0 - c1)
        for q in range(column_first[at], column_first[at + 1]):
            i = holders[q]
            k = int(positive[i])
            change = weight[i] * ((f1 if k else f0) - 1)
            weight[i] += change
            total[k] += change
            for p in range(indptr[i], indptr[i + 1]):
                sums[k, indices[p]] += change
        scale[0] *= np.exp(c0)
        scale[1] *= np.exp(-c0)
        whole = scale[0] * total[0] + scale[1] * total[1]
        scale /= whole
    return found, bias
