"""Find the itemset that prevents a feature from being published.

The itemset breaks the rule, but none of its subsets does.
"""

from __future__ import annotations

import numpy as np

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.admission import AdmissionRule, rare
from voile.itemsets.kernels.containment import holds, narrow
from voile.itemsets.kernels.groups import (
    UNLIMITED,
    Counts,
    Items,
    SubjectGroups,
    holders_of,
    subjects,
)
from voile.itemsets.kernels.partition import SharedClasses, local, others


@compile_kernel
def blocker(
    groups: SubjectGroups, classes: SharedClasses, rule: AdmissionRule, x: int
) -> tuple[int, bool, Items, Items]:
    """Find a minimal itemset that includes feature x and breaks the rule.

    Returns
    -------
    The support of the itemset in subjects (-1 if x may be shared), and whether x is present in it.
    Then the ranks of its other features, and for each of them 1 if it is present and 0 if absent.
    """
    holders = holders_of(groups, x)
    part = np.empty(classes.sizes[1] + 1, dtype=np.int32)
    for present in (True, False):
        if not present and (not rule.signed or len(holders) == len(groups.own)):
            continue
        here = local(groups, classes, holders if present else others(groups, holders))
        c, total, filled = rare(here, rule, part, classes.marks)
        if c >= 0:
            total, filled = shrink(here, c, rule.k, part, filled, classes.marks)
            ranks = part[:filled].copy()
            signs = np.array([holds(here, c, int(rank)) for rank in ranks], dtype=np.int32)
            return total, present, ranks, signs
    return -1, True, part[:0].copy(), part[:0].copy()


@inner
def shorten(here: SubjectGroups, c: int, k: int, part: Items, filled: int, marks: Counts) -> int:
    """Move the rarest features of `part` to the front, until fewer than k subjects match them.

    Returns the number of these features.
    """
    given = np.arange(len(here.own)).astype(np.int32)
    taken = 0
    while subjects(here, given, k, marks) >= k:
        rarest, least = taken, len(given) + 1
        for i in range(taken, filled):
            item, agree = int(part[i]), 0
            present = holds(here, c, item)
            for q in given:
                agree += holds(here, int(q), item) == present
            if agree < least:
                rarest, least = i, agree
        item = int(part[rarest])
        part[rarest], part[taken] = part[taken], item
        taken += 1
        given = given[: narrow(here, given.copy(), item, holds(here, c, item), given)]
    return taken


@inner
def shrink(
    here: SubjectGroups, c: int, k: int, part: Items, filled: int, marks: Counts
) -> tuple[int, int]:
    """Remove features from `part` as long as fewer than k subjects match the others.

    Returns the support of the remaining itemset and its length.
    """
    filled = shorten(here, c, k, part, filled, marks)
    total, at = matching(here, c, part[:filled], -1, marks), 0
    while at < filled:
        without = matching(here, c, part[:filled], at, marks)
        if without < k:
            total = without
            part[at : filled - 1] = part[at + 1 : filled].copy()
            filled -= 1
        else:
            at += 1
    return total, filled


@inner
def matching(here: SubjectGroups, c: int, part: Items, left_out: int, marks: Counts) -> int:
    """Count the subjects who agree with class c on `part`, ignoring position `left_out`."""
    found, n = np.empty(len(here.own), dtype=np.int32), 0
    for q in range(len(here.own)):
        same = True
        for i in range(len(part)):
            if i != left_out and holds(here, q, part[i]) != holds(here, c, part[i]):
                same = False
                break
        if same:
            found[n] = q
            n += 1
    return subjects(here, found[:n], UNLIMITED, marks)
