"""Linear support vector machines for several types at once, by dual coordinate descent."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

Weights = NDArray[np.float32]

TOLERANCE = 0.02
"""The steepest slope of the dual objective at which all types are solved."""
ROUNDS, MOST_SWEEPS = 100, 100
"""After each sweep over all tokens, rounds over those that moved; of each at most so many."""


def fit_hyperplanes(
    matrix: sp.csr_array, labels: NDArray[np.int16], costs: NDArray[np.float64], C: float, seed: int
) -> tuple[Weights, Weights]:
    """Return weights (columns, T) and bias (T,) that separate each type from the rest.

    A type that no token has is never found; one that every token has is always. All types are
    learnt in one reading of the columns (Hsieh et al., 2008: the squared hinge loss by its dual).

    costs : (T,), the weight of an identifier's error beside a harmless token's.

    Cost: O(ones x types) a sweep, about 10 of them, and a round, over a part of the tokens.
    """
    counts = np.bincount(labels, minlength=len(costs) + 1)[1:]
    found, mixed = counts > 0, (counts > 0) & (counts < len(labels))
    number = np.zeros(len(costs) + 1, np.int16)
    number[1:][mixed] = np.arange(1, mixed.sum() + 1)
    weights = np.zeros((matrix.shape[1], len(costs)), np.float32)
    bias = np.where(found, 1, -1).astype(np.float32)
    ridge = np.full((mixed.sum(), 2), 0.5 / C, np.float32)
    ridge[:, 1] /= costs[mixed]
    rows = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float32),
    )
    order = np.random.default_rng(seed).permutation(len(labels))
    solved = descend(*rows, matrix.shape[1], number[labels], order, ridge)
    weights[:, mixed], bias[mixed] = solved[:-1], solved[-1]
    return weights, bias


@njit(cache=True, nogil=True)
def descend(
    indptr: NDArray[np.int64],
    indices: NDArray[np.int32],
    data: NDArray[np.float32],
    columns: int,
    labels: NDArray[np.int16],
    order: NDArray[np.int64],
    ridge: NDArray[np.float32],
) -> Weights:
    """Return the weights of each column and, last, of the bias, (columns + 1, T).

    ridge : (T, 2), what the multiplier of a token that is not, or is, of the type costs.
    """
    types = len(ridge)
    weights = np.zeros((columns + 1, types), np.float32)
    multiplier = np.zeros((len(labels), types), np.float32)
    score, step = np.zeros(types, np.float32), np.zeros(types, np.float32)
    moving = np.empty(len(order), dtype=np.int64)
    for _ in range(MOST_SWEEPS):
        some, first = order, np.float32(0)
        for turn in range(ROUNDS + 1):
            moved, steepest = 0, np.float32(0)
            for i in some:
                score[:] = weights[columns]
                size = np.float32(1)
                for at in range(indptr[i], indptr[i + 1]):
                    column, x = indices[at], data[at]
                    size += x * x
                    for t in range(types):
                        score[t] += x * weights[column, t]
                moves = False
                for t in range(types):
                    is_own = labels[i] == t + 1
                    sign = np.float32(1) if is_own else np.float32(-1)
                    price = ridge[t, 1] if is_own else ridge[t, 0]
                    before = multiplier[i, t]
                    slope = sign * score[t] - np.float32(1) + price * before
                    change = max(-slope / (size + price), -before)
                    step[t] = change * sign
                    if change != 0:
                        moves = True
                        multiplier[i, t] = before + change
                        steepest = max(steepest, abs(slope))
                if moves:
                    moving[moved] = i
                    moved += 1
                    for t in range(types):
                        weights[columns, t] += step[t]
                    for at in range(indptr[i], indptr[i + 1]):
                        column, x = indices[at], data[at]
                        for t in range(types):
                            weights[column, t] += x * step[t]
            if turn == 0:
                first = steepest
            if steepest < TOLERANCE:
                break
            some = moving[:moved].copy()
        if first < TOLERANCE:
            break
    return weights
