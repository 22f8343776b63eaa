"""Compiled decoding of linear chains: the best labels, and the odds of each label."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from voile.documents.model.classifiers.classifier import Margins

Scores = NDArray[np.float32]


Firsts = NDArray[np.intp]


LEAST = 1e-100
"""The least likelihood of a label relative to another, so that no sum is zero."""


MOST = 200.0
"""The bound of log-odds, which are in [-MOST, MOST]."""


@njit(cache=True, nogil=True)
def best_labels(
    scores: Scores, transitions: NDArray[np.float64], first: Firsts
) -> NDArray[np.int16]:
    """Return the label of each token on its document's best path (Viterbi), (n,); O(n labels^2)."""
    n, size = scores.shape
    best = np.zeros(n, np.int16)
    came = np.zeros((n, size), np.int16)
    total, before = np.zeros(size), np.zeros(size)
    for d in range(len(first) - 1):
        start, end = first[d], first[d + 1]
        if start == end:
            continue
        total[:] = scores[start]
        for i in range(start + 1, end):
            before[:] = total
            for k in range(size):
                at = 0
                for j in range(1, size):
                    if before[j] + transitions[j, k] > before[at] + transitions[at, k]:
                        at = j
                came[i, k] = at
                total[k] = before[at] + transitions[at, k] + scores[i, k]
        best[end - 1] = np.argmax(total)
        for i in range(end - 1, start, -1):
            best[i - 1] = came[i, best[i]]
    return best


@njit(cache=True, nogil=True)
def log_odds(
    scores: Scores, transitions: NDArray[np.float64], first: Firsts
) -> NDArray[np.float64]:
    """Return the log-odds of each label's marginal probability, (n, labels). Cost: O(n labels^2).

    The forward and backward passes use the scale of each token. Odds are relative to the sum of the
    other labels, so they are exact even if a probability rounds to 1.
    """
    n, size = scores.shape
    odds = np.zeros((n, size))
    step = np.maximum(np.exp(transitions - transitions.max()), LEAST)
    back = step.T.copy()
    ahead = np.ones(size)
    weight, moved = np.zeros((n, size)), np.zeros(size)
    for d in range(len(first) - 1):
        start, end = first[d], first[d + 1]
        for i in range(start, end):
            moved[:] = 1.0 if i == start else 0.0
            if i > start:
                for j in range(size):
                    for k in range(size):
                        moved[k] += odds[i - 1, j] * step[j, k]
            top, total = scores[i].max(), 0.0
            for k in range(size):
                weight[i, k] = max(np.exp(np.float64(scores[i, k] - top)), LEAST)
                moved[k] *= weight[i, k]
                total += moved[k]
            for k in range(size):
                odds[i, k] = moved[k] / total
        ahead[:] = 1.0
        for i in range(end - 1, start - 1, -1):
            for k in range(size):
                odds[i, k] *= ahead[k]
                weight[i, k] *= ahead[k]
            ahead[:] = 0.0
            for k in range(size):
                for j in range(size):
                    ahead[j] += back[k, j] * weight[i, k]
            ahead /= ahead.max()
            against_others(odds[i])
    return odds


@njit(cache=True, nogil=True)
def against_others(row: NDArray[np.float64]) -> None:
    """Convert a row of probabilities, of any scale, to log-odds in place."""
    size = len(row)
    others = np.zeros(size)
    for k in range(size):
        for j in range(size):
            if j != k:
                others[k] += row[j]
    for k in range(size):
        if row[k] <= 0.0:
            row[k] = -MOST
        elif others[k] <= 0.0:
            row[k] = MOST
        else:
            row[k] = min(max(np.log(row[k]) - np.log(others[k]), -MOST), MOST)


def log_odds_of(probabilities: NDArray[np.floating]) -> Margins:
    """Return the log-odds of probabilities, clipped to [-MOST, MOST]."""
    probabilities = np.asarray(probabilities, dtype=np.float64)
    with np.errstate(divide="ignore"):
        odds = np.log(probabilities) - np.log1p(-probabilities)
    return np.asarray(np.clip(odds, -MOST, MOST), dtype=np.float64)
