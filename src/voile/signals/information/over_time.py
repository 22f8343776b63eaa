"""Test whether the course of a subject's readings reveals the class, if one reading does not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from voile.keys.random import RandomState
from voile.signals.information.leakage import ClassInformation
from voile.signals.information.mutual import NEIGHBOURS, mutual_information
from voile.signals.model.codec.pieces import Floats

LENGTH = 3  # readings of a subject needed to estimate a trend and a swing
SURE = 0.05  # significance level of all four tests together


def information_over_time(
    X: Floats,
    codes: NDArray[np.intp],
    whose: NDArray[np.intp],
    moments: NDArray[np.intp],
    random_state: RandomState = 0,
) -> ClassInformation | None:
    """Test whether the levels, trends, swings or steps of subjects reveal the class.

    Each of the four features is tested alone. Return the significant estimate with the most bits.
    Return None if no test is significant, or if a class has too few subjects with `LENGTH`
    readings.
    """
    n = np.bincount(whose)
    long = np.flatnonzero(n >= LENGTH)
    classes = codes[np.unique(whose, return_index=True)[1]][long]
    if not len(long) or np.bincount(classes)[np.unique(classes)].min() <= NEIGHBOURS:
        return None
    features = [each[long] for each in _features(X, whose, moments)]
    found = [mutual_information(each, classes, random_state=random_state) for each in features]
    sure = [one for one in found if one.p_value < SURE / len(found)]
    return max(sure, key=lambda one: one.bits, default=None)


def _features(X: Floats, whose: NDArray[np.intp], moments: NDArray[np.intp]) -> Iterator[Floats]:
    """Yield each subject's level, swing about its trend, trend and typical step, each (s, d)."""
    order = np.lexsort((moments, whose))
    X, whose, t = X[order], whose[order], moments[order].astype(np.float64)

    def mean(values: Floats) -> Floats:
        sums = np.stack([np.bincount(whose, column) for column in values.T], axis=1)
        return sums / np.bincount(whose)[:, None]

    level = mean(X)
    off, apart = X - level[whose], (t - mean(t[:, None])[whose, 0])[:, None]
    trend = mean(apart * off) / np.maximum(mean(apart**2), np.finfo(float).tiny)
    yield level
    yield np.sqrt(mean((off - trend[whose] * apart) ** 2))
    if (t != t[0]).any():
        yield trend
        same = np.diff(whose, prepend=-1) == 0
        yield np.sqrt(mean(np.where(same[:, None], np.diff(X, axis=0, prepend=0.0), 0.0) ** 2))
