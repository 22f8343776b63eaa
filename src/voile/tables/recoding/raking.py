"""Rake the people of each interval over runs, so that the counts of runs are met."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDS, NEAR = 200, 1e-6


def rake(width: Floats, people: Floats, runs: Floats) -> Floats:
    """Return the share of each interval's people in each run, by iterative proportional fitting.

    Several shares may give the same numbers of people in all intervals and runs. The result is the
    nearest of them to values that are uniform within an interval.

    Parameters
    ----------
    width : (intervals, runs) the size of the common part of an interval and a run, >= 0.
    people : (intervals,) the people in each interval.
    runs : (runs,) the people in each run.

    Returns
    -------
    share : (intervals, runs), each row sums to 1.

    Cost: O(intervals x runs) per round. The rounds end when every run is within a millionth of all
    people of its count, or after 200 rounds. Rounded counts may be inconsistent, and the result is
    then close to them.
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
    """Return the share of each interval's people with each value, uniform within a run.

    Parameters
    ----------
    inside : (intervals, values) bool, the values of each interval.
    people : (intervals,) the people in each interval.
    begins : (runs,) the first value of each run.
    runs : (runs,) the approximate number of people in each run.

    >>> inside = np.array([[True, True, True]])
    >>> rake_values(inside, np.array([10.0]), np.array([0, 1]), np.array([80.0, 20.0])).round(3)
    array([[0.8, 0.1, 0.1]])
    """
    run = np.searchsorted(begins, np.arange(inside.shape[1]), side="right") - 1
    width = (inside @ np.eye(len(begins))[run]).astype(np.float64)
    share = rake(width, people, runs * people.sum() / runs.sum())
    within = np.divide(share, width, out=np.zeros_like(share), where=width > 0)
    return np.asarray(within[:, run] * inside)
