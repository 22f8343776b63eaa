"""Find the patterns that contain a pattern, and count their subjects."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.groups import (
    UNLIMITED,
    Counts,
    Items,
    SubjectGroups,
    marks_for,
    subjects,
)


@inner
def contains(groups: SubjectGroups, q: int, p: int) -> bool:
    at, end = groups.starts[q], groups.starts[q + 1]
    left = groups.starts[p + 1] - groups.starts[p]
    if end - at < left:
        return False
    for i in range(groups.starts[p], groups.starts[p + 1]):
        item = groups.items[i]
        while at < end - left and groups.items[at] < item:
            at += 1
        if groups.items[at] != item:
            return False
        at += 1
        left -= 1
    return True


@inner
def holds(groups: SubjectGroups, q: int, item: int) -> bool:
    low, high = groups.starts[q], groups.starts[q + 1]
    while low < high:
        middle = (low + high) // 2
        if groups.items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < groups.starts[q + 1] and groups.items[low] == item)


@inner
def containers(groups: SubjectGroups, p: int, enough: int, found: Items) -> int:
    """Write the patterns that contain p to `found`, and return their number.

    The search may stop once the found patterns have `enough` subjects.
    """
    begin, end = groups.starts[p], groups.starts[p + 1]
    if begin == end:
        found[:] = np.arange(len(found))
        return len(found)
    rarest, least = 0, np.int64(UNLIMITED)
    for at in range(begin, end):
        x = groups.items[at]
        holders = groups.column_starts[x + 1] - groups.column_starts[x]
        if holders < least:
            rarest, least = x, holders
    n, total = 0, 0
    for at in range(groups.column_starts[rarest], groups.column_starts[rarest + 1]):
        q = groups.holders[at]
        if contains(groups, q, p):
            found[n] = q
            n += 1
            total += groups.own[q]
            if total >= enough:
                break
    return n


@inner
def support(groups: SubjectGroups, p: int, enough: int, found: Items, marks: Counts) -> int:
    """Count the subjects with a row that contains pattern p. The count may stop at `enough`."""
    return subjects(groups, found[: containers(groups, p, enough, found)], enough, marks)


@compile_kernel
def pattern_supports(groups: SubjectGroups, some: Items) -> Counts:
    """Return, for each of some patterns, the number of subjects with a row that contains it."""
    found, marks = np.empty(len(groups.own), dtype=np.int32), marks_for(groups)
    counts = np.empty(len(some), dtype=np.int64)
    for at in range(len(some)):
        counts[at] = support(groups, some[at], UNLIMITED, found, marks)
    return counts


@compile_kernel
def containers_of(groups: SubjectGroups, p: int) -> Items:
    found = np.empty(len(groups.own), dtype=np.int32)
    return found[: containers(groups, p, UNLIMITED, found)]


@compile_kernel
def least_support(groups: SubjectGroups, order: Counts, everyone: int) -> int:
    """Return the least support of a pattern, in subjects.

    Patterns are examined in `order`, which should begin with the longest. A pattern that no other
    pattern contains has the least support. A pattern with as many subjects of its own as the least
    so far needs no check. The result is at most `everyone`.
    """
    found, marks = np.empty(len(groups.own), dtype=np.int32), marks_for(groups)
    least = everyone
    for p in order:
        if groups.own[p] < least:
            least = min(least, support(groups, p, least, found, marks))
        if least == 1:
            break
    return least


@inner
def narrow(groups: SubjectGroups, given: Items, item: int, present: bool, found: Items) -> int:
    """Write the given patterns that have the item (or lack it) to `found`. Return their number."""
    n = 0
    for q in given:
        if holds(groups, q, item) == present:
            found[n] = q
            n += 1
    return n


@inner
def diversity(
    groups: SubjectGroups, p: int, labels: NDArray[np.bool_], found: Items, seen: NDArray[np.bool_]
) -> int:
    """Count the distinct labels of the patterns that contain p. `found` and `seen` are scratch."""
    seen[:] = labels[p]
    if not seen.all():
        for q in found[: containers(groups, p, UNLIMITED, found)]:
            seen |= labels[q]
            if seen.all():
                break
    return int(seen.sum())


@compile_kernel
def pattern_diversity(groups: SubjectGroups, labels: NDArray[np.bool_]) -> Counts:
    """Return, for each pattern, the number of distinct labels of the patterns that contain it.

    `labels` : (patterns, labels) whether a pattern occurs with a label.
    """
    patterns, n_labels = labels.shape
    found, seen = np.empty(patterns, dtype=np.int32), np.empty(n_labels, dtype=np.bool_)
    counts = np.empty(patterns, dtype=np.int64)
    for p in range(patterns):
        counts[p] = diversity(groups, p, labels, found, seen)
    return counts


@compile_kernel
def least_diversity(groups: SubjectGroups, labels: NDArray[np.bool_], order: Counts) -> int:
    """Return the least diversity of a pattern. `order` should begin with the longest patterns."""
    patterns, n_labels = labels.shape
    found, seen = np.empty(patterns, dtype=np.int32), np.empty(n_labels, dtype=np.bool_)
    least = n_labels
    for p in order:
        least = min(least, diversity(groups, p, labels, found, seen))
        if least == 1:
            break
    return int(least)
