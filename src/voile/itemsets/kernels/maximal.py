"""Maximal frequent itemsets, depth first, one step after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.containment import narrow
from voile.itemsets.kernels.groups import UNLIMITED, Counts, Items, SubjectGroups, subjects

Table = NDArray[np.int32]


class MiningState(NamedTuple):
    """The state of the search: at each depth the patterns, the head, and the items to add.

    `patterns[d, : held[d]]` contain `head[: heads[d]]`; `tail[d, : tails[d]]` are the items that
    may still be added, `at[d]` the next. `stand` holds the depth, -1 when all is searched, and
    whether it was entered. `found[: many]` are the largest maximal itemsets, `sizes` their sizes.
    """

    patterns: Table
    held: Counts
    head: Items
    heads: Counts
    tail: Table
    tails: Counts
    at: Counts
    stand: Counts
    found: Table
    sizes: Counts
    many: Counts
    marks: Counts


@inner
def with_each(groups: SubjectGroups, patterns: Items, marks: Counts) -> tuple[Counts, Counts]:
    """Return how many of the patterns have each item too, and of how many subjects."""
    features = len(groups.column_starts) - 1
    holders = np.zeros(features, dtype=np.int64)
    counts = np.zeros(features, dtype=np.int64)
    for p in patterns:
        for at in range(groups.starts[p], groups.starts[p + 1]):
            holders[groups.items[at]] += 1
            counts[groups.items[at]] += groups.own[p]
    if groups.n_shared > 0:
        some = np.empty(len(patterns), dtype=np.int32)
        for x in range(features):
            n = narrow(groups, patterns, x, True, some)
            counts[x] = subjects(groups, some[:n], UNLIMITED, marks)
    return holders, counts


@inner
def enter(groups: SubjectGroups, mining: MiningState, depth: int, k: int) -> None:
    """Find the items that may be added at a depth; keep the head where it is maximal.

    What all patterns have joins the head at once. Where the head and all items together cannot
    be among the largest, or no item may follow, nothing is left to add.
    """
    patterns = mining.patterns[depth, : mining.held[depth]]
    holders, counts = with_each(groups, patterns, mining.marks)
    last, maximal = mining.at[depth], True
    inside = np.zeros(len(counts), dtype=np.bool_)
    for i in range(mining.heads[depth]):
        inside[mining.head[i]] = True
    n, missed = 0, False
    for x in range(len(counts)):
        if inside[x] or counts[x] < k:
            continue
        if x < last:
            maximal = False
            missed = missed or holders[x] == len(
                patterns
            )  # then every set here can be enlarged by x
        elif holders[x] == len(patterns):
            mining.head[mining.heads[depth]] = x
            mining.heads[depth] += 1
        else:
            maximal = False
            mining.tail[depth, n] = x
            n += 1
    if missed or mining.heads[depth] + n <= least_size(mining):
        n, maximal = 0, False
    mining.tails[depth], mining.at[depth] = n, 0
    if maximal:
        keep(mining, mining.heads[depth])


@inner
def least_size(mining: MiningState) -> int:
    """Return the size that a set must pass to be among the largest."""
    return int(mining.sizes.min()) if mining.many[0] >= len(mining.sizes) else 0


@inner
def keep(mining: MiningState, size: int) -> None:
    """Keep the head in the place of the smallest kept."""
    place = mining.many[0] if mining.many[0] < len(mining.sizes) else mining.sizes.argmin()
    mining.found[place, :size] = mining.head[:size]
    mining.sizes[place] = size
    mining.many[0] = min(mining.many[0] + 1, len(mining.sizes))


@compile_kernel
def mine(groups: SubjectGroups, mining: MiningState, k: int, steps: int) -> int:
    """Go on for up to `steps` itemsets; return how many were looked at."""
    done = 0
    while mining.stand[0] >= 0 and done < steps:
        depth = mining.stand[0]
        if mining.stand[1] == 0:
            enter(groups, mining, depth, k)
            mining.stand[1] = 1
            done += 1
        left = mining.tails[depth] - mining.at[depth]
        if left <= 0 or mining.heads[depth] + left <= least_size(mining):
            mining.stand[0] -= 1
            continue
        x = mining.tail[depth, mining.at[depth]]
        mining.at[depth] += 1
        below = depth + 1
        patterns = mining.patterns[depth, : mining.held[depth]]
        mining.held[below] = narrow(groups, patterns, x, True, mining.patterns[below])
        mining.head[mining.heads[depth]] = x
        mining.heads[below] = mining.heads[depth] + 1
        mining.at[below] = x + 1
        mining.stand[0], mining.stand[1] = below, 0
    return done
