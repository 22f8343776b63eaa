"""The input of the kernels: distinct rows, the rows of each feature, and the rows' subjects."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner

Starts = NDArray[np.int64]
Items = NDArray[np.int32]
Counts = NDArray[np.int64]

UNLIMITED = 2**31 - 1


class SubjectGroups(NamedTuple):
    """Distinct rows (patterns) and the subjects who have them.

    - `items[starts[p] : starts[p + 1]]` : the features of pattern p, in rising order.
    - `holders` : the patterns that have each feature, delimited by `column_starts`.
    - `own[p]` : the number of subjects with pattern p and no other.
    - `shared` : the numbers of the subjects with several patterns, delimited by `shared_starts`.
      Each subject occurs once for each of its patterns.
    - `n_shared` : the number of subjects with several patterns.

    The number of subjects of some patterns is therefore the sum of `own` and the number of distinct
    subjects in `shared`.
    """

    starts: Starts
    items: Items
    column_starts: Starts
    holders: Items
    own: Counts
    shared_starts: Starts
    shared: Items
    n_shared: int


@inner
def holders_of(groups: SubjectGroups, x: int) -> Items:
    return groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]


@inner
def marks_for(groups: SubjectGroups) -> Counts:
    """Return scratch for `subjects`: a cell for each shared subject, and a counter of calls."""
    return np.zeros(groups.n_shared + 1, dtype=np.int64)


@inner
def subjects(groups: SubjectGroups, patterns: Items, enough: int, marks: Counts) -> int:
    """Count the subjects who have at least one of the `patterns`.

    The count may stop at `enough`.
    """
    total = 0
    for p in patterns:
        total += groups.own[p]
    if total >= enough or groups.n_shared == 0:
        return total
    marks[-1] += 1
    for p in patterns:
        for at in range(groups.shared_starts[p], groups.shared_starts[p + 1]):
            subject = groups.shared[at]
            if marks[subject] != marks[-1]:
                marks[subject] = marks[-1]
                total += 1
    return total


@compile_kernel
def supports(groups: SubjectGroups) -> Counts:
    marks = marks_for(groups)
    features = len(groups.column_starts) - 1
    counts = np.empty(features, dtype=np.int64)
    for x in range(features):
        counts[x] = subjects(groups, holders_of(groups, x), UNLIMITED, marks)
    return counts


@compile_kernel
def lacking(groups: SubjectGroups, everyone: int) -> Counts:
    """Return, for each feature, how many of `everyone` have at least one row without it."""
    features = len(groups.column_starts) - 1
    rows, held = np.zeros(groups.n_shared, np.int64), np.zeros(groups.n_shared, np.int64)
    for subject in groups.shared:
        rows[subject] += 1
    counts = np.empty(features, dtype=np.int64)
    for x in range(features):
        counts[x] = everyone
        holders = holders_of(groups, x)
        for p in holders:
            counts[x] -= groups.own[p]
            for at in range(groups.shared_starts[p], groups.shared_starts[p + 1]):
                held[groups.shared[at]] += 1
                counts[x] -= held[groups.shared[at]] == rows[groups.shared[at]]
        for p in holders:
            held[groups.shared[groups.shared_starts[p] : groups.shared_starts[p + 1]]] = 0
    return counts
