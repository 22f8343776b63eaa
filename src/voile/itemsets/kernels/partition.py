"""May one more feature be shared? Checks only the rows that contain it.

The features shared so far divide the patterns into *classes*: what looks the same once
published. A feature is tried on the classes of the patterns that hold it, made into small
`Groups` of their own, whose items are the features' *ranks*: the order they were shared in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from voile.compiled import compiled, inner
from voile.itemsets.kernels.containment import holds, narrow, rarest_part, support
from voile.itemsets.kernels.groups import (
    UNLIMITED,
    Counts,
    Groups,
    Items,
    Starts,
    subjects,
)
from voile.itemsets.kernels.rows import columns


class Classes(NamedTuple):
    """The classes that the shared features make; `sizes` holds how many, and the features.

    Pattern p belongs to class `of[p]`; its ranks rise and begin at `ranks[starts[p]]`. A class
    has the first `length[c]` ranks of pattern `lead[c]`, which may have left it since: few
    places to look at, however many patterns. `patterns[c]` and `weight[c]` count a class's
    patterns and their own subjects.
    `place`, `moving` and `weighs` are scratch, one number a class, and stand at -1, 0 and 0;
    `marks` is what `subjects` needs.
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


class Rule(NamedTuple):
    """At least k subjects for every occurring itemset of at most m features (`UNLIMITED`: any).

    Where `signed`, absent features count as known too.
    """

    k: int
    m: int
    signed: bool


@compiled
def begin(groups: Groups, classes: Classes) -> None:
    """Share nothing: all patterns look the same."""
    classes.of[:] = 0
    classes.lead[0], classes.length[0] = 0, 0
    classes.patterns[0], classes.weight[0] = len(groups.own), groups.own.sum()
    classes.sizes[0], classes.sizes[1] = 1, 0


@inner
def holders_of(groups: Groups, x: int) -> Items:
    """Return the patterns that hold feature x."""
    return groups.holders[groups.column_starts[x] : groups.column_starts[x + 1]]


@inner
def others(groups: Groups, holders: Items) -> Items:
    """Return the patterns that are not among those given, which rise."""
    left = np.empty(len(groups.own) - len(holders), dtype=np.int32)
    n, at = 0, 0
    for p in range(len(groups.own)):
        if at < len(holders) and holders[at] == p:
            at += 1
        else:
            left[n] = p
            n += 1
    return left


@compiled
def share(groups: Groups, classes: Classes, x: int) -> None:
    """Share feature x: its holders leave their classes, where others stay behind."""
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
            new = c if classes.moving[c] == classes.patterns[c] else split(classes, c)
            classes.place[c] = new
            classes.lead[new], classes.length[new] = holders[i], classes.length[c] + 1
        classes.of[holders[i]] = classes.place[c]
    for c in before:
        tidy(classes, c)
    classes.sizes[1] += 1


@inner
def split(classes: Classes, c: int) -> int:
    """Make a class of what `moving` and `weighs` say leaves class c; return its number."""
    new = classes.sizes[0]
    classes.sizes[0] += 1
    classes.patterns[new], classes.weight[new] = classes.moving[c], classes.weighs[c]
    classes.patterns[c] -= classes.moving[c]
    classes.weight[c] -= classes.weighs[c]
    return int(new)


@inner
def tidy(classes: Classes, c: int | np.int32) -> None:
    """Put a class's scratch back."""
    classes.place[c], classes.moving[c], classes.weighs[c] = -1, 0, 0


@inner
def local(groups: Groups, classes: Classes, members: Items) -> Groups:
    """Return the classes of some patterns as groups of their own; their items are ranks."""
    n = 0
    which = np.empty(len(members), dtype=np.int32)
    class_of = np.empty(min(len(members), classes.sizes[0]), dtype=np.int32)
    own = np.zeros(len(class_of), dtype=np.int64)
    for i in range(len(members)):
        c = classes.of[members[i]]
        if classes.place[c] < 0:
            classes.place[c], class_of[n] = n, c
            n += 1
        which[i] = classes.place[c]
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
    shared_starts, shared = gathered(groups, members, which, n)
    return Groups(
        starts, items, column_starts, holders, own[:n], shared_starts, shared, groups.n_shared
    )


@inner
def gathered(groups: Groups, members: Items, which: Items, n: int) -> tuple[Starts, Items]:
    """Return the shared subjects of each of n classes; one may occur twice in a class."""
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


@inner
def rare(here: Groups, rule: Rule, part: Items, marks: Counts) -> tuple[int, int, int]:
    """Find a class that breaks the rule among `here`, the rows that contain a feature or lack it.

    Returns its number, -1 where none does, the support of what breaks the rule, and how many
    ranks of `part` were filled with it, beside that feature.
    """
    n = len(here.own)
    found, alone = np.empty(n, dtype=np.int32), np.empty(1, dtype=np.int32)
    most = min(rule.m - 1, len(here.column_starts) - 1)
    for c in range(n):
        if here.own[c] >= rule.k:
            continue
        if rule.signed:
            alone[0] = c
            total = subjects(here, alone, rule.k, marks)
            length = len(here.column_starts) - 1
        else:
            total = support(here, c, rule.k, found, marks)
            length = here.starts[c + 1] - here.starts[c]
        if total >= rule.k:
            continue
        if length > most:
            total, length = rarest_part(here, c, most, rule.k, rule.signed, True, part, marks)
            if total < rule.k:
                return c, total, length
        elif rule.signed:
            for i in range(length):
                part[i] = i
            return c, total, length
        else:
            for i in range(length):
                part[i] = here.items[here.starts[c] + i]
            return c, total, length
    return -1, rule.k, 0


@inner
def splits_well(groups: Groups, classes: Classes, x: int, k: int) -> bool:
    """Say whether every class that feature x splits leaves k subjects or none on either side.

    Counts each subject's own patterns only: never true where it is not so.
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
def doomed(groups: Groups, classes: Classes, holders: Items, k: int) -> bool:
    """Say whether the longest class among the holders is too rare: one look often settles it."""
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
def within(groups: Groups, classes: Classes, a: int, b: int) -> bool:
    """Say whether class b has all ranks that class a has."""
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
def admits(groups: Groups, classes: Classes, rule: Rule, x: int, part: Items) -> bool:
    """Say whether feature x may be shared with those that are, which keep the rule."""
    if rule.signed:
        if splits_well(groups, classes, x, rule.k):
            return True
        if rule.m == UNLIMITED and groups.n_shared == 0:
            return False
    holders = holders_of(groups, x)
    whole = not rule.signed and rule.m == UNLIMITED
    if whole and len(holders) and doomed(groups, classes, holders, rule.k):
        return False
    if rare(local(groups, classes, holders), rule, part, classes.marks)[0] >= 0:
        return False
    if not rule.signed or len(holders) == len(groups.own):
        return True
    rest = others(groups, holders)
    return bool(rare(local(groups, classes, rest), rule, part, classes.marks)[0] < 0)


@compiled
def may_share(groups: Groups, classes: Classes, rule: Rule, x: int) -> bool:
    """Say whether feature x may be shared with those that are, which keep the rule."""
    return admits(groups, classes, rule, x, np.empty(classes.sizes[1], dtype=np.int32))


@compiled
def extend(
    groups: Groups, classes: Classes, rule: Rule, order: Items, stop: bool
) -> tuple[Items, int]:
    """Try features in order, share each that may be; `stop` at the first that may not.

    Returns those shared, and how many were tried.
    """
    shared, n = np.empty(len(order), dtype=np.int32), 0
    part = np.empty(classes.sizes[1] + len(order), dtype=np.int32)
    for i in range(len(order)):
        if admits(groups, classes, rule, order[i], part):
            share(groups, classes, order[i])
            shared[n] = order[i]
            n += 1
        elif stop:
            return shared[:n].copy(), i + 1
    return shared[:n].copy(), len(order)


@compiled
def blocker(groups: Groups, classes: Classes, rule: Rule, x: int) -> tuple[int, bool, Items, Items]:
    """Find a least itemset with feature x in it that breaks the rule.

    Returns its support, -1 where x may be shared; whether x is present in it; the other
    features' ranks; and 1 for each of these that is present.
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
def shorten(here: Groups, c: int, k: int, part: Items, filled: int, marks: Counts) -> int:
    """Keep of `part` only what it takes for fewer than k subjects to match; return how much.

    Takes what fewest of the classes still matching agree on, until they are too few.
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
    here: Groups, c: int, k: int, part: Items, filled: int, marks: Counts
) -> tuple[int, int]:
    """Leave out of `part` what can be while fewer than k subjects match; return support, length."""
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
def matching(here: Groups, c: int, part: Items, left_out: int, marks: Counts) -> int:
    """Count the subjects who have what class c has of `part`, one of whose places is left out."""
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
