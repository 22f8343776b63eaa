"""Compute the information that one more feature reveals, and the rows that it makes unique."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.gains import leave
from voile.itemsets.kernels.groups import Counts, Items, SubjectGroups

Table = NDArray[np.int64]
Bits = NDArray[np.float64]


@inner
def times_log(count: int) -> float:
    """Return count * log2(count), and 0 for a count of 0."""
    return count * np.log2(count) if count else 0.0


@inner
def bits_gained(leaving: Table, whole: Table) -> float:
    """Return the bits that splitting a class reveals about its labels, summed over the rows."""
    bits, leave, stay = 0.0, 0, 0
    for j in range(len(leaving)):
        left = whole[j] - leaving[j]
        bits += times_log(leaving[j]) + times_log(left) - times_log(whole[j])
        leave += leaving[j]
        stay += left
    return bits + times_log(leave + stay) - times_log(leave) - times_log(stay)


@compile_kernel
def information_gained(
    groups: SubjectGroups, of: Items, table: Table, sums: Table, features: Items
) -> Bits:
    """Return the bits that each feature would add, summed over the rows."""
    added = np.zeros(len(features))
    leaving = np.zeros(sums.shape, dtype=np.int64)
    for i in range(len(features)):
        for p in leave(groups, of, table, features[i], leaving):
            c = of[p]
            if leaving[c].any():
                added[i] += bits_gained(leaving[c], sums[c])
                leaving[c] = 0
    return added


@compile_kernel
def rows_alone(of: Items, holders: Items, first: Counts, last: Counts, rows: Counts) -> int:
    """Count the rows in classes of one subject after a feature's holders leave their classes.

    `first`, `last` : (patterns,) the least and the greatest number of a subject with each pattern.
    """
    patterns = len(of)
    least = np.full(2 * patterns, np.iinfo(np.int64).max)
    greatest = np.full(2 * patterns, -1)
    count = np.zeros(2 * patterns, dtype=np.int64)
    side = np.zeros(patterns, dtype=np.int64)
    side[holders] = patterns
    for p in range(patterns):
        c = side[p] + of[p]
        least[c] = min(least[c], first[p])
        greatest[c] = max(greatest[c], last[p])
        count[c] += rows[p]
    alone: int = count[least == greatest].sum()
    return alone
