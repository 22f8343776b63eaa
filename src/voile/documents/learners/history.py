"""Compiled decoding from left to right, where a decision depends on those before it."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def follow(
    scores: NDArray[np.float32], history: NDArray[np.float32], first: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return each token's margins, (n, T), given the classes decided before it.

    A token's class is the type of its highest margin above 0, else harmless.

    Parameters
    ----------
    scores : (n, T) without the history.
    history : (window, T, T) what a token gains, [k, s], for having type s + 1 k + 1 before it.
    first : (d + 1,) where each document begins; nothing is known before.

    Cost: O(n window T).
    """
    n, types = scores.shape
    margins = np.zeros((n, types))
    classes = np.zeros(n, np.int16)
    for d in range(len(first) - 1):
        start = first[d]
        for i in range(start, first[d + 1]):
            margins[i] = scores[i]
            for k in range(min(len(history), i - start)):
                if classes[i - 1 - k]:
                    margins[i] += history[k, classes[i - 1 - k] - 1]
            top = np.argmax(margins[i])
            if margins[i, top] > 0:
                classes[i] = top + 1
    return margins
