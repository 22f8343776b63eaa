"""Compute the few terms that all kernels share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.tables.fitting.kernels.cells import SLACK, CellRules, SensitiveShares

Row = int | np.int64


@compile_kernel
def n_log_n(n: float) -> float:
    """Return n log n in nats, or 0 for n = 0.

    >>> n_log_n(0.0), n_log_n(1.0)
    (0.0, 0.0)
    """
    if n == 0.0 or n == 1.0:
        return 0.0
    return n * math.log(n)


@bare
def group_of(n: float, people: float) -> float:
    """Return g, the people of a cell: at least its subjects, and at least one person."""
    return max(n, people, 1.0)


@bare
def share(rules: CellRules, n: float, g: float) -> float:
    """Return the risk of n subjects in a cell of g people: n / g, or as the rules weight it."""
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
    rules: CellRules, n: float, g: float, values: NDArray[np.uint64], one: Row, other: Row
) -> bool:
    """Return whether a cell has enough subjects n, people g, and values of two rows together."""
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


@bare
def asks_shares(rules: CellRules) -> bool:
    return rules.least_entropy > 0.0 or rules.most_t < 1.0


@bare
def has_shares(rules: CellRules, shares: SensitiveShares, one: Row, other: Row) -> bool:
    """Return whether the shares of row `one`, with row `other` if it differs, meet the rules."""
    shown, more = shares.shown, 0.0 if one == other else 1.0
    for s in range(len(shares.ordered)):
        first, last = shares.start[s], shares.start[s + 1]
        n = 0.0
        for v in range(first, last):
            n += shown[one, v] + more * shown[other, v]
        if n == 0.0:
            return False
        moved, carried, nats = 0.0, 0.0, 0.0
        for v in range(first, last):
            away = (shown[one, v] + more * shown[other, v]) / n - shares.whole[v]
            carried += away
            moved += abs(carried) if shares.ordered[s] else 0.5 * abs(away)
        if shares.ordered[s]:
            moved /= max(last - first - 1, 1)
        if moved > rules.most_t + SLACK:
            return False
        if rules.least_entropy > 0.0:
            for v in range(first, last):
                nats -= n_log_n((shown[one, v] + more * shown[other, v]) / n)
            if nats < rules.least_entropy - SLACK:
                return False
    return True


@bare
def is_released(
    rules: CellRules,
    n: float,
    g: float,
    values: NDArray[np.uint64],
    shares: SensitiveShares,
    one: Row,
    other: Row,
) -> bool:
    """Return whether a cell of two rows may be released: its counts and shares meet the rules."""
    if not is_kept(rules, n, g, values, one, other):
        return False
    return not asks_shares(rules) or has_shares(rules, shares, one, other)
