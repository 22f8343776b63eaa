"""Divide the patterns into *classes* by the shared features.

The patterns of a class are identical in the published features. The classes of some patterns can be
turned into small `SubjectGroups`. Their items are *ranks*: the positions of the features in the
order of sharing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.groups import Counts, Items, Starts, SubjectGroups, holders_of
from voile.itemsets.kernels.rows import columns


class SharedClasses(NamedTuple):
    """The classes that the shared features define.

    - `of[p]` : the class of pattern p.
    - `ranks[starts[p] :]` : the ranks of pattern p, in rising order.
    - `lead[c]`, `length[c]` : class c has the first `length[c]` ranks of pattern `lead[c]`. That
      pattern may have left the class since. This keeps the memory accesses few.
    - `patterns[c]`, `weight[c]` : the number of patterns of a class, and their subjects by `own`.
    - `sizes` : the number of classes and the number of shared features.
    - `place`, `moving`, `weighs` : scratch with one number for each class. The values are -1, 0 and
      0 between calls.
    - `marks` : the scratch of `subjects`.
    """

    of: Items
    ranks: Items
    lead: Items
    length: Items
    patterns: Items
    weight: Counts
    sizes: Counts
    place: Items
    moving: Items
    weighs: Counts
    marks: Counts


@compile_kernel
def begin(groups: SubjectGroups, classes: SharedClasses) -> None:
    classes.of[:] = 0
    classes.lead[0], classes.length[0] = 0, 0
    classes.patterns[0], classes.weight[0] = len(groups.own), groups.own.sum()
    classes.sizes[0], classes.sizes[1] = 1, 0


@inner
def others(groups: SubjectGroups, holders: Items) -> Items:
    """Return the patterns outside `holders`, which must be in rising order."""
    left = np.empty(len(groups.own) - len(holders), dtype=np.int32)
    n, at = 0, 0
    for p in range(len(groups.own)):
        if at < len(holders) and holders[at] == p:
            at += 1
        else:
            left[n] = p
            n += 1
    return left


@compile_kernel
def share(groups: SubjectGroups, classes: SharedClasses, x: int) -> None:
    """Share feature x: its holders form new classes, unless all patterns of a class have x."""
    holders, rank = holders_of(groups, x), classes.sizes[1]
    before = np.empty(len(holders), dtype=np.int32)
    for i in range(len(holders)):
        p = holders[i]
        c = before[i] = classes.of[p]
        classes.moving[c] += 1
        classes.weighs[c] += groups.own[p]
        classes.ranks[groups.starts[p] + classes.length[c]] = rank
    for i in range(len(holders)):
        c = before[i]
        if classes.place[c] < 0:
            new = c if classes.moving[c] == classes.patterns[c] else split_class(classes, c)
            classes.place[c] = new
            classes.lead[new], classes.length[new] = holders[i], classes.length[c] + 1
        classes.of[holders[i]] = classes.place[c]
    for c in before:
        tidy(classes, c)
    classes.sizes[1] += 1


@inner
def split_class(classes: SharedClasses, c: int) -> int:
    """Create a class of the patterns that leave class c (`moving`, `weighs`). Return its number."""
    new = classes.sizes[0]
    classes.sizes[0] += 1
    classes.patterns[new], classes.weight[new] = classes.moving[c], classes.weighs[c]
    classes.patterns[c] -= classes.moving[c]
    classes.weight[c] -= classes.weighs[c]
    return int(new)


@inner
def tidy(classes: SharedClasses, c: int | np.int32) -> None:
    """Reset the scratch of a class."""
    classes.place[c], classes.moving[c], classes.weighs[c] = -1, 0, 0


@inner
def local(groups: SubjectGroups, classes: SharedClasses, members: Items) -> SubjectGroups:
    """Return the classes of some patterns as `SubjectGroups` of ranks, the longest first."""
    n = 0
    which = np.empty(len(members), dtype=np.int32)
    class_of = np.empty(min(len(members), classes.sizes[0]), dtype=np.int32)
    for i in range(len(members)):
        c = classes.of[members[i]]
        if classes.place[c] < 0:
            classes.place[c], class_of[n] = n, c
            n += 1
    class_of = longest_first(classes.length, class_of[:n], classes.sizes[1])
    for i in range(n):
        classes.place[class_of[i]] = i
    own = np.zeros(n, dtype=np.int64)
    for i in range(len(members)):
        which[i] = classes.place[classes.of[members[i]]]
        own[which[i]] += groups.own[members[i]]
    starts = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        starts[i + 1] = starts[i] + classes.length[class_of[i]]
    items = np.empty(starts[n], dtype=np.int32)
    for i in range(n):
        begin, c = groups.starts[classes.lead[class_of[i]]], class_of[i]
        items[starts[i] : starts[i + 1]] = classes.ranks[begin : begin + classes.length[c]]
        classes.place[c] = -1
    column_starts, holders = columns(starts, items, classes.sizes[1])
    shared_starts, shared = gather_subjects(groups, members, which, n)
    return SubjectGroups(
        starts, items, column_starts, holders, own, shared_starts, shared, groups.n_shared
    )


@inner
def longest_first(length: Items, of: Items, most: int) -> Items:
    """Sort classes by their length, the longest first. No class may be longer than `most`."""
    begins = np.zeros(most + 2, dtype=np.int64)
    for c in of:
        begins[most - length[c] + 1] += 1
    for i in range(most + 1):
        begins[i + 1] += begins[i]
    ordered = np.empty(len(of), dtype=np.int32)
    for c in of:
        ordered[begins[most - length[c]]] = c
        begins[most - length[c]] += 1
    return ordered


@inner
def gather_subjects(
    groups: SubjectGroups, members: Items, which: Items, n: int
) -> tuple[Starts, Items]:
    """Return the shared subjects of each of n classes. A subject may occur twice in one class."""
    starts = np.zeros(n + 1, dtype=np.int64)
    if groups.n_shared == 0:
        return starts, np.empty(0, dtype=np.int32)
    for i in range(len(members)):
        p = members[i]
        starts[which[i] + 1] += groups.shared_starts[p + 1] - groups.shared_starts[p]
    for c in range(n):
        starts[c + 1] += starts[c]
    shared, end = np.empty(starts[n], dtype=np.int32), starts[:-1].copy()
    for i in range(len(members)):
        for at in range(groups.shared_starts[members[i]], groups.shared_starts[members[i] + 1]):
            shared[end[which[i]]] = groups.shared[at]
            end[which[i]] += 1
    return starts, shared
