"""Raking: how the people of each interval are spread, so that counts of runs come out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ROUNDS, NEAR = 200, 1e-6


def rake(width: Floats, people: Floats, runs: Floats) -> Floats:
    """Return which share of each interval's people is in each run.

    Iterative proportional fitting: of all shares under which intervals and runs hold as many
    people as they do, those nearest to values that are even within an interval.

    Parameters
    ----------
    width : (intervals, runs) how much of an interval lies in a run, >= 0.
    people : (intervals,) how many each holds. runs : (runs,) how many each holds.

    Returns
    -------
    (intervals, runs), each row sums to 1. Cost: O(intervals x runs) a round; ends when every run
    is within a millionth of all people of its count, or after 200 rounds: rounded counts may be
    those of no people, and are then come near to.
    """
    share = width / width.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        made = people @ share
        if np.abs(made - runs).max(initial=0.0) <= NEAR * people.sum():
            break
        share = share * np.divide(runs, made, out=np.ones_like(runs), where=made > 0)
        share /= share.sum(axis=1, keepdims=True)
    return np.asarray(share)
