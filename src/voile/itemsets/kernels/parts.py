"""Search for the rarest small itemsets depth first.

At each step, the itemsets with one more item are all counted at once.
"""

from __future__ import annotations

import numpy as np

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.containment import narrow, support
from voile.itemsets.kernels.groups import (
    UNLIMITED,
    Counts,
    Items,
    SubjectGroups,
    marks_for,
    subjects,
)


@inner
def count_held(groups: SubjectGroups, given: Items, after: int, counts: Counts) -> int:
    """Count the given patterns that have each item above `after`, weighted by `own`.

    The counts are written to `counts`. Returns the sum of `own` over all given patterns.
    """
    counts[after + 1 :] = 0
    total = 0
    for q in given:
        total += groups.own[q]
        at = groups.starts[q + 1] - 1
        while at >= groups.starts[q] and groups.items[at] > after:
            counts[groups.items[at]] += groups.own[q]
            at -= 1
    return total


@inner
def rarest_item(
    groups: SubjectGroups,
    given: Items,
    after: int,
    bound: int,
    signed: bool,
    counts: Counts,
    some: Items,
    marks: Counts,
) -> tuple[int, int, int]:
    """Find the item above `after` that the fewest subjects of the given patterns have (or lack).

    Absences are considered only if `signed`.

    Returns
    -------
    The number of its subjects (`bound` if no item has fewer), the item, and a pattern that has the
    item or lacks it. Item and pattern are -1 if no item has fewer than `bound` subjects.
    """
    item, witness = -1, -1
    total = count_held(groups, given, after, counts)
    for x in range(after + 1, len(counts)):
        for present in (True, False):
            own = counts[x] if present else total - counts[x]
            if own >= bound or (not present and not signed) or (own == 0 and groups.n_shared == 0):
                continue
            n = narrow(groups, given, x, present, some)
            found = subjects(groups, some[:n], bound, marks)
            if 0 < found < bound:
                bound, item, witness = found, x, some[0]
    return bound, item, witness


@inner
def least_of(wholes: Counts, given: Items) -> int:
    """Return the least value of `wholes` among the given patterns."""
    least = UNLIMITED
    for q in given:
        least = min(least, wholes[q])
    return least


@inner
def rarest_part(
    groups: SubjectGroups,
    wholes: Counts,
    most: int,
    bound: int,
    signed: bool,
    first: bool,
    part: Items,
    marks: Counts,
) -> tuple[int, int, int]:
    """Find an itemset of at most `most` features that occurs for fewer than `bound` subjects.

    The itemset has the least support or, with `first`, is the first one found. If `signed`, an
    itemset may also contain absences. `wholes` are lower bounds of the support of each whole
    pattern. An itemset is skipped if all patterns that have it have enough subjects.

    Returns
    -------
    The support (or `bound`), the number of features written to `part`, and a pattern that has the
    itemset. This pattern shows which of the features are absent.
    """
    patterns, features = len(groups.own), len(groups.column_starts) - 1
    most = min(most, features)
    given, some = np.empty((most + 1, patterns), np.int32), np.empty(patterns, np.int32)
    given[0] = np.arange(patterns)
    n, counts = np.zeros(most + 1, np.int64), np.empty(features, np.int64)
    path = np.full(most + 1, -1)  # at each depth 2 * feature, plus 1 if it is absent
    n[0], depth, filled, witness = patterns, 0, 0, 0
    least = min(bound, subjects(groups, given[0], bound, marks))
    entered = most == 0
    while depth >= 0 and not (first and least < bound):
        if not entered:
            after = path[depth - 1] // 2 if depth > 0 else -1
            least, item, q = rarest_item(
                groups, given[depth, : n[depth]], after, least, signed, counts, some, marks
            )
            if item >= 0:
                filled, witness = depth + 1, q
                part[:depth], part[depth] = path[:depth] // 2, item
            path[depth], entered = 2 * after + 1, True
        path[depth] += 1 if signed else 2 - path[depth] % 2
        if depth + 1 >= most or path[depth] >= 2 * (features - 1):
            depth -= 1
            continue
        present = path[depth] % 2 == 0
        before, below = given[depth, : n[depth]], given[depth + 1]
        n[depth + 1] = narrow(groups, before, path[depth] // 2, present, below)
        if least_of(wholes, below[: n[depth + 1]]) < least:
            depth, entered = depth + 1, False
    return least, filled, witness


@compile_kernel
def least_part_support(
    groups: SubjectGroups, order: Counts, most: int, everyone: int, signed: bool
) -> int:
    """Return the least support of an itemset that occurs and has at most `most` features."""
    patterns, features = len(groups.own), len(groups.column_starts) - 1
    found, part = np.empty(patterns, dtype=np.int32), np.empty(features, dtype=np.int32)
    wholes, marks = np.empty(patterns, dtype=np.int64), marks_for(groups)
    least = everyone
    for p in order:
        if signed:
            wholes[p] = groups.own[p] + groups.shared_starts[p + 1] - groups.shared_starts[p]
        else:
            wholes[p] = support(groups, p, least, found, marks)
        length = features if signed else groups.starts[p + 1] - groups.starts[p]
        if length <= most:
            least = min(least, wholes[p])
    for size in range(1, most + 1):
        if least == 1 or wholes.min() >= least:
            break
        least, _, _ = rarest_part(groups, wholes, size, least, signed, False, part, marks)
    return least
