"""Compiled loops that put the rows of several sparse tables side by side; NOWHERE is below 0."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

NOBODY, SEVERAL = -1, -2


@njit(cache=True, nogil=True)
def lengths(numbers: Ints, indptr: Longs, total: Longs) -> None:
    """Add to `total` how long each token's row is; (n,) numbers of rows."""
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            total[i] += indptr[numbers[i] + 1] - indptr[numbers[i]]


@njit(cache=True, nogil=True)
def append(numbers: Ints, indptr: Longs, indices: Ints, at: Longs, out: Ints) -> None:
    """Copy each token's row to where its own ends so far, `at`, which moves on."""
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            for j in range(indptr[numbers[i]], indptr[numbers[i] + 1]):
                out[at[i]] = indices[j]
                at[i] += 1


@njit(cache=True, nogil=True)
def meet(numbers: Ints, indptr: Longs, indices: Ints, subject: Ints, met: Ints) -> None:
    """Note in `met` of each column: NOBODY's, SEVERAL subjects', else the one subject."""
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            for j in range(indptr[numbers[i]], indptr[numbers[i] + 1]):
                column = indices[j]
                if met[column] == NOBODY:
                    met[column] = subject[i]
                elif met[column] != subject[i]:
                    met[column] = SEVERAL


@njit(cache=True, nogil=True)
def add_rows(
    view: Ints, numbers: Ints, table: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Add to each token's scores the row of `table` of what stands where it looks."""
    for i in range(len(view)):
        place = view[i]
        if place >= 0:
            number = numbers[place]
            if number >= 0:
                for k in range(out.shape[1]):
                    out[i, k] += table[number, k]


@njit(cache=True, nogil=True)
def add_weights(
    indptr: Longs,
    indices: Ints,
    columns: Ints,
    weights: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Add up for each row of attributes the weights of their columns."""
    for i in range(len(out)):
        for j in range(indptr[i], indptr[i + 1]):
            column = columns[indices[j]]
            if column >= 0:
                for k in range(out.shape[1]):
                    out[i, k] += weights[column, k]
