"""Compiled loops that concatenate the rows of several sparse tables; NOWHERE is negative."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

NOBODY, SEVERAL = -1, -2


@njit(cache=True, nogil=True)
def lengths(numbers: Ints, indptr: Longs, total: Longs) -> None:
    """Add the length of each token's row to `total`; `numbers`, (n,), are the tokens' rows."""
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            total[i] += indptr[numbers[i] + 1] - indptr[numbers[i]]


@njit(cache=True, nogil=True)
def append(numbers: Ints, indptr: Longs, indices: Ints, at: Longs, out: Ints) -> None:
    """Copy each token's row to `out` at the position `at`, and advance `at`."""
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            for j in range(indptr[numbers[i]], indptr[numbers[i] + 1]):
                out[at[i]] = indices[j]
                at[i] += 1


@njit(cache=True, nogil=True)
def meet(numbers: Ints, indptr: Longs, indices: Ints, subject: Ints, met: Ints) -> None:
    """Record in `met` which subjects have each column: NOBODY, SEVERAL, or the only subject."""
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
    """Add a row of `table` to the scores of each token.

    The row belongs to the number at the position that the token looks at.
    """
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
    """Add to each row of `out` the sum of the weights of its attributes' columns."""
    for i in range(len(out)):
        for j in range(indptr[i], indptr[i + 1]):
            column = columns[indices[j]]
            if column >= 0:
                for k in range(out.shape[1]):
                    out[i, k] += weights[column, k]
