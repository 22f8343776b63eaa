"""Compute the gain of one more feature, for utilities that depend on the whole set."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.groups import Counts, Items, SubjectGroups, holders_of

Table = NDArray[np.int64]


@compile_kernel
def held_by_class(groups: SubjectGroups, table: Table) -> Table:
    """Sum the rows of `table`, one for each pattern, over the patterns that have each feature.

    Returns an array of shape (features, columns of `table`).
    """
    features = len(groups.column_starts) - 1
    sums = np.zeros((features, table.shape[1]), dtype=np.int64)
    for x in range(features):
        for p in holders_of(groups, x):
            for j in range(table.shape[1]):
                sums[x, j] += table[p, j]
    return sums


@compile_kernel
def move(
    groups: SubjectGroups, of: Items, table: Table, features: Items, before: Items, sums: Table
) -> None:
    """Move the counts of the features' holders from their old class to their new one.

    `sums` : (classes, labels) sums of `table` by class. `before` : (patterns,) the old class of
        each pattern. Both are updated in place to match `of`, the new classes.
    """
    for x in features:
        for p in holders_of(groups, x):
            if before[p] != of[p]:
                for j in range(table.shape[1]):
                    sums[before[p], j] -= table[p, j]
                    sums[of[p], j] += table[p, j]
                before[p] = of[p]


@inner
def pairs_separated(leaving: Table, whole: Table) -> int:
    """Count the pairs of different labels in which one row leaves a class and the other stays."""
    pairs, leave, stay = 0, 0, 0
    for j in range(len(leaving)):
        leave += leaving[j]
        stay += whole[j] - leaving[j]
        pairs -= leaving[j] * (whole[j] - leaving[j])
    return pairs + leave * stay


@inner
def majority_gained(leaving: Table, whole: Table) -> int:
    """Count the rows that gain the majority label of their class when some rows leave it."""
    left, stayed, before = 0, 0, 0
    for j in range(len(leaving)):
        left = max(left, leaving[j])
        stayed = max(stayed, whole[j] - leaving[j])
        before = max(before, whole[j])
    return left + stayed - before


@inner
def leave(groups: SubjectGroups, of: Items, table: Table, x: int, leaving: Table) -> Items:
    """Add up the rows, by class and label, that feature x would take from each class.

    The sums are added to `leaving`. Returns the patterns that have x.
    """
    holders = holders_of(groups, x)
    for p in holders:
        for j in range(table.shape[1]):
            leaving[of[p], j] += table[p, j]
    return holders


@compile_kernel
def gains(
    groups: SubjectGroups, of: Items, table: Table, sums: Table, features: Items, majority: bool
) -> Counts:
    """Return the gain of each feature.

    The gain is the number of separated pairs of different labels. With `majority`, it is the number
    of rows that gain the majority label of their class.
    """
    added = np.zeros(len(features), dtype=np.int64)
    leaving = np.zeros(sums.shape, dtype=np.int64)
    for i in range(len(features)):
        for p in leave(groups, of, table, features[i], leaving):
            c = of[p]
            if leaving[c].any():
                if majority:
                    added[i] += majority_gained(leaving[c], sums[c])
                else:
                    added[i] += pairs_separated(leaving[c], sums[c])
                leaving[c] = 0
    return added
