"""Decide whether one more feature may be published, from the rows that contain it or lack it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.containment import support
from voile.itemsets.kernels.groups import (
    UNLIMITED,
    Counts,
    Items,
    SubjectGroups,
    holders_of,
    subjects,
)
from voile.itemsets.kernels.partition import SharedClasses, local, others, share, tidy
from voile.itemsets.kernels.parts import rarest_part


class AdmissionRule(NamedTuple):
    """The rule that every itemset of at most `m` features that occurs has at least `k` subjects.

    If `signed`, an itemset may also contain absences of features.
    """

    k: int
    m: int
    signed: bool


@inner
def rare(
    here: SubjectGroups, rule: AdmissionRule, part: Items, marks: Counts
) -> tuple[int, int, int]:
    """Find an itemset that breaks the rule among some classes of rows.

    `here` contains either the rows that have the candidate feature, or the rows that lack it.

    Returns
    -------
    The number of a class that has the itemset (-1 if there is none), the itemset's support in
    subjects, and the length of `part`. The ranks of the itemset are written to `part`, without the
    candidate feature.
    """
    n, ranks = len(here.own), len(here.column_starts) - 1
    found, wholes = np.empty(n, dtype=np.int32), np.zeros(n, dtype=np.int64)
    most, suspects = min(rule.m - 1, ranks), False
    for c in range(n):
        wholes[c] = here.own[c]
        if wholes[c] < rule.k and most > 1:
            wholes[c] = whole_support(here, c, rule, found, marks)
            length = ranks if rule.signed else here.starts[c + 1] - here.starts[c]
            if wholes[c] < rule.k and length <= most:
                return c, wholes[c], fill(here, c, rule.signed, part)
        suspects = suspects or wholes[c] < rule.k
    if not suspects:
        return -1, rule.k, 0
    total, filled, c = rarest_part(here, wholes, most, rule.k, rule.signed, True, part, marks)
    return (c, total, filled) if total < rule.k else (-1, rule.k, 0)


@inner
def whole_support(
    here: SubjectGroups, c: int, rule: AdmissionRule, found: Items, marks: Counts
) -> int:
    """Count the subjects with a row that has all features of class c (exactly these if signed)."""
    if rule.signed:
        found[0] = c
        return subjects(here, found[:1], rule.k, marks)
    return support(here, c, rule.k, found, marks)


@inner
def fill(here: SubjectGroups, c: int, signed: bool, part: Items) -> int:
    """Write the ranks of class c to `part`, or all ranks if signed. Return their number."""
    if signed:
        ranks = len(here.column_starts) - 1
        part[:ranks] = np.arange(ranks)
        return ranks
    held = here.items[here.starts[c] : here.starts[c + 1]]
    part[: len(held)] = held
    return len(held)


@inner
def splits_well(groups: SubjectGroups, classes: SharedClasses, x: int, k: int) -> bool:
    """Return whether each class that feature x splits keeps 0 or at least k subjects in both parts.

    Only subjects with a single pattern are counted. The answer may therefore be False by mistake,
    but never True.
    """
    holders, well = holders_of(groups, x), True
    for p in holders:
        classes.weighs[classes.of[p]] += groups.own[p]
        classes.moving[classes.of[p]] += 1
    for p in holders:
        c = classes.of[p]
        left = classes.weight[c] - classes.weighs[c]
        if classes.moving[c] == 0:
            continue
        if classes.weighs[c] < k or (classes.moving[c] < classes.patterns[c] and left < k):
            well = False
        tidy(classes, c)
    return well


@inner
def is_class_doomed(groups: SubjectGroups, classes: SharedClasses, holders: Items, k: int) -> bool:
    """Return whether the longest class among the holders has fewer than k subjects.

    This cheap check often decides that a feature cannot be shared. It counts a subject once for
    each of its patterns, so it never returns True by mistake.
    """
    longest, most = classes.of[holders[0]], -1
    for p in holders:
        if classes.length[classes.of[p]] > most:
            longest, most = classes.of[p], classes.length[classes.of[p]]
    total = 0
    for p in holders:
        if within(groups, classes, longest, classes.of[p]):
            total += groups.own[p] + groups.shared_starts[p + 1] - groups.shared_starts[p]
            if total >= k:
                return False
    return True


@inner
def within(groups: SubjectGroups, classes: SharedClasses, a: int, b: int) -> bool:
    """Return whether class b has all ranks of class a."""
    at = groups.starts[classes.lead[b]]
    end = at + classes.length[b]
    begin = groups.starts[classes.lead[a]]
    for i in range(begin, begin + classes.length[a]):
        while at < end and classes.ranks[at] < classes.ranks[i]:
            at += 1
        if at == end or classes.ranks[at] != classes.ranks[i]:
            return False
        at += 1
    return True


@inner
def admits(
    groups: SubjectGroups, classes: SharedClasses, rule: AdmissionRule, x: int, part: Items
) -> bool:
    """Return whether feature x can be added to the shared features without breaking the rule.

    `part` is scratch. The features shared so far must already meet the rule.
    """
    if rule.signed:
        if splits_well(groups, classes, x, rule.k):
            return True
        if rule.m == UNLIMITED and groups.n_shared == 0:
            return False
    holders = holders_of(groups, x)
    whole = not rule.signed and rule.m == UNLIMITED
    if whole and len(holders) and is_class_doomed(groups, classes, holders, rule.k):
        return False
    if rare(local(groups, classes, holders), rule, part, classes.marks)[0] >= 0:
        return False
    if not rule.signed or len(holders) == len(groups.own):
        return True
    rest = others(groups, holders)
    return bool(rare(local(groups, classes, rest), rule, part, classes.marks)[0] < 0)


@compile_kernel
def may_share(groups: SubjectGroups, classes: SharedClasses, rule: AdmissionRule, x: int) -> bool:
    """Return whether feature x can be added to the shared features without breaking the rule."""
    return admits(groups, classes, rule, x, np.empty(classes.sizes[1], dtype=np.int32))


@compile_kernel
def extend(
    groups: SubjectGroups,
    classes: SharedClasses,
    rule: AdmissionRule,
    order: Items,
    stop: bool,
    most: int,
) -> tuple[Items, int]:
    """Share the features of `order` that the rule allows, one after another.

    The search ends when `most` features are shared or, with `stop`, at the first refused feature.

    Returns
    -------
    The features shared by this call, and the number of features tried.
    """
    shared, n, tried = np.empty(min(len(order), most), dtype=np.int32), 0, 0
    part = np.empty(classes.sizes[1] + len(shared), dtype=np.int32)
    while tried < len(order) and n < most:
        x = order[tried]
        tried += 1
        if admits(groups, classes, rule, x, part):
            share(groups, classes, x)
            shared[n] = x
            n += 1
        elif stop:
            break
    return shared[:n].copy(), tried
