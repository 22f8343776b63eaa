"""Who contains what: subjects whose rows contain a pattern, and its rarest small parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.compiled import compiled, inner
from voile.itemsets.kernels.groups import (
    UNLIMITED,
    Counts,
    Groups,
    Items,
    marks_for,
    subjects,
)


@inner
def contains(groups: Groups, q: int, p: int) -> bool:
    """Say whether pattern q has all that pattern p has."""
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
def holds(groups: Groups, q: int, item: int) -> bool:
    """Say whether pattern q has one item."""
    low, high = groups.starts[q], groups.starts[q + 1]
    while low < high:
        middle = (low + high) // 2
        if groups.items[middle] < item:
            low = middle + 1
        else:
            high = middle
    return bool(low < groups.starts[q + 1] and groups.items[low] == item)


@inner
def containers(groups: Groups, p: int, enough: int, found: Items) -> int:
    """Fill `found` with the patterns that contain p; return how many.

    May stop once subjects of one row each make `enough`.
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
def support(groups: Groups, p: int, enough: int, found: Items, marks: Counts) -> int:
    """Count the subjects who have a row that contains pattern p; may stop at `enough`."""
    return subjects(groups, found[: containers(groups, p, enough, found)], enough, marks)


@compiled
def pattern_supports(groups: Groups) -> Counts:
    """Return, for each pattern, how many subjects have a row that contains it."""
    patterns = len(groups.own)
    found, marks = np.empty(patterns, dtype=np.int32), marks_for(groups)
    counts = np.empty(patterns, dtype=np.int64)
    for p in range(patterns):
        counts[p] = support(groups, p, UNLIMITED, found, marks)
    return counts


@compiled
def containers_of(groups: Groups, p: int) -> Items:
    """Return the patterns that contain p."""
    found = np.empty(len(groups.own), dtype=np.int32)
    return found[: containers(groups, p, UNLIMITED, found)]


@compiled
def least_support(groups: Groups, order: Counts, everyone: int) -> int:
    """Return the least support of a pattern; looks at patterns in the `order` given.

    The longest should come first: the least is attained at a pattern that no other contains,
    and one that as many subjects have as the least so far needs no look. `everyone` is the
    number of subjects.
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
def narrow(groups: Groups, given: Items, item: int, present: bool, found: Items) -> int:
    """Fill `found` with those of the patterns given that have the item, or have it not."""
    n = 0
    for q in given:
        if holds(groups, q, item) == present:
            found[n] = q
            n += 1
    return n


@inner
def rarest_part(
    groups: Groups,
    p: int,
    most: int,
    bound: int,
    signed: bool,
    first: bool,
    part: Items,
    marks: Counts,
) -> tuple[int, int]:
    """Find a part of pattern p, of at most `most` features, with support below `bound`.

    The one of least support, or the `first` found. Where `signed`, what p has not is a part of
    it too. Returns the support, or `bound` when there is none, and how many features of `part`
    were filled; p says which of them are absent.
    """
    patterns, features = len(groups.own), len(groups.column_starts) - 1
    begin = groups.starts[p]
    pool = features if signed else groups.starts[p + 1] - begin
    most = min(most, pool)
    given = np.empty((most + 1, patterns), dtype=np.int32)
    given[0] = np.arange(patterns)
    n, at = np.zeros(most + 1, dtype=np.int64), np.zeros(most + 1, dtype=np.int64)
    n[0], filled, depth = patterns, 0, 0
    if most == 0:
        return min(bound, subjects(groups, given[0], bound, marks)), 0
    at[0] = -1
    while depth >= 0:
        at[depth] += 1
        if at[depth] > pool - (most - depth):
            depth -= 1
            continue
        item = at[depth] if signed else groups.items[begin + at[depth]]
        present = not signed or holds(groups, p, item)
        if depth == 0 and present:
            held = groups.holders[groups.column_starts[item] : groups.column_starts[item + 1]]
            n[1], given[1, : len(held)] = len(held), held
        else:
            before = given[depth, : n[depth]]
            n[depth + 1] = narrow(groups, before, item, present, given[depth + 1])
        total = subjects(groups, given[depth + 1, : n[depth + 1]], bound, marks)
        if total < bound:
            bound, filled = total, depth + 1
            for d in range(filled):
                part[d] = at[d] if signed else groups.items[begin + at[d]]
            if first:
                break
        if depth + 1 < most:
            depth += 1
            at[depth] = at[depth - 1]
    return bound, filled


@compiled
def least_part_support(
    groups: Groups, order: Counts, most: int, everyone: int, signed: bool
) -> int:
    """Return the least support of an itemset that occurs and has at most `most` features."""
    features = len(groups.column_starts) - 1
    found, part = np.empty(len(groups.own), dtype=np.int32), np.empty(features, dtype=np.int32)
    marks = marks_for(groups)
    least = everyone
    for p in order:
        if signed:
            whole = groups.own[p] + groups.shared_starts[p + 1] - groups.shared_starts[p]
        else:
            whole = support(groups, p, least, found, marks)
        if whole < least:
            least, _ = rarest_part(groups, p, most, least, signed, False, part, marks)
        if least == 1:
            break
    return least


@compiled
def pattern_diversity(groups: Groups, labels: NDArray[np.bool_]) -> Counts:
    """Return how many labels the patterns that contain each pattern have; (patterns, labels)."""
    patterns, n_labels = labels.shape
    found = np.empty(patterns, dtype=np.int32)
    counts = np.zeros(patterns, dtype=np.int64)
    seen = np.empty(n_labels, dtype=np.bool_)
    for p in range(patterns):
        seen[:] = False
        for q in found[: containers(groups, p, UNLIMITED, found)]:
            seen |= labels[q]
            if seen.all():
                break
        counts[p] = seen.sum()
    return counts
