"""The few sums that every kernel shares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compiled
from voile.tables.kernels.cells import Rules

Row = int | np.int64


@compiled
def n_log_n(n: float) -> float:
    """Return n log n in nats; 0 for n = 0.

    >>> n_log_n(0.0), n_log_n(1.0)
    (0.0, 0.0)
    """
    if n == 0.0 or n == 1.0:
        return 0.0
    return n * math.log(n)


@bare
def group_of(n: float, people: float) -> float:
    """Return g: the people of a cell, at least its subjects, and at least the one who is there."""
    return max(n, people, 1.0)


@bare
def share(rules: Rules, n: float, g: float) -> float:
    """Return what n subjects of a cell of g people add to risk: n / g, or what the rules weigh."""
    if rules.power == 1.0 and g < rules.under:
        return n / g
    return n / g**rules.power if g < rules.under else 0.0


@bare
def distinct(values: NDArray[np.uint64], one: Row, other: Row, begin: int, end: int) -> int:
    """Count the bits set in row `one` or `other`, in the words from `begin` to below `end`."""
    count = 0
    for w in range(begin, end):
        word = values[one, w] | values[other, w]
        while word != np.uint64(0):
            word &= word - np.uint64(1)
            count += 1
    return count


@bare
def is_kept(
    rules: Rules, n: float, g: float, values: NDArray[np.uint64], one: Row, other: Row
) -> bool:
    """Whether a cell may be released: n subjects, g people, the values of two rows together."""
    if n < rules.least_n or g < rules.least_g:
        return False
    if rules.least_l == 0:
        return True
    words = values.shape[1] // rules.columns
    for column in range(rules.columns):
        begin = column * words
        if distinct(values, one, other, begin, begin + words) < rules.least_l:
            return False
    return True
