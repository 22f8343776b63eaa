"""Raking: how the people of each interval are spread, so that counts of runs come out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDS, NEAR = 200, 1e-6


def rake(width: Floats, people: Floats, runs: Floats) -> Floats:
    """Return which share of each interval's people is in each run.

    Iterative proportional fitting: some shares give the same numbers of people in all intervals and
    runs. The result is nearest among them to values that are even within an interval.

    Parameters
    ----------
    width : (intervals, runs) how much of an interval lies in a run, >= 0.
    people : (intervals,) how many each holds. runs : (runs,) how many each holds.

    Returns
    -------
    (intervals, runs), each row sums to 1. Cost: O(intervals x runs) a round. The rounds end when
    every run is within a millionth of all people of its count, or after 200. Rounded counts may fit
    no people; the result then comes near to them.
    """
    share = width / width.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        made = people @ share
        if np.abs(made - runs).max(initial=0.0) <= NEAR * people.sum():
            break
        share = share * np.divide(runs, made, out=np.ones_like(runs), where=made > 0)
        share /= share.sum(axis=1, keepdims=True)
    return np.asarray(share)


def rake_values(inside: NDArray[np.bool_], people: Floats, begins: Ints, runs: Floats) -> Floats:
    """Return which share of each interval's people has each value, even within a run.

    Parameters
    ----------
    inside : (intervals, values) which values an interval holds.
    people : (intervals,) how many each holds.
    begins : (runs,) the first value of each run. runs : (runs,) about how many each holds.

    >>> inside = np.array([[True, True, True]])
    >>> rake_values(inside, np.array([10.0]), np.array([0, 1]), np.array([80.0, 20.0])).round(3)
    array([[0.8, 0.1, 0.1]])
    """
    run = np.searchsorted(begins, np.arange(inside.shape[1]), side="right") - 1
    width = (inside @ np.eye(len(begins))[run]).astype(np.float64)
    share = rake(width, people, runs * people.sum() / runs.sum())
    within = np.divide(share, width, out=np.zeros_like(share), where=width > 0)
    return np.asarray(within[:, run] * inside)
