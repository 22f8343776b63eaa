"""Mine maximal frequent itemsets depth first, in a search that can run in steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.containment import narrow
from voile.itemsets.kernels.groups import UNLIMITED, Counts, Items, SubjectGroups, subjects

Table = NDArray[np.int32]


class MiningState(NamedTuple):
    """The state of the search at each depth: patterns, current itemset and items to add.

    - `patterns[d, : held[d]]` : the patterns that contain the itemset `head[: heads[d]]`.
    - `tail[d, : tails[d]]` : the items that may still be added. `at[d]` is the position of the
      next.
    - `stand` : the depth (-1 at the end), and whether it was entered.
    - `found[: many]`, `sizes` : the largest maximal itemsets found, and their sizes.
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
    """Return, for each item, how many of the patterns and how many of their subjects have it."""
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
    """Find the items that may be added at a depth, and record the itemset if it is maximal.

    Items that all patterns have join the itemset at once. The list of items to add is empty if no
    item may follow. It is also empty if the itemset with all of these items cannot be among the
    largest.
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
            )  # every set found here could be enlarged by x
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
    """Return the size that an itemset must exceed to be among the largest."""
    return int(mining.sizes.min()) if mining.many[0] >= len(mining.sizes) else 0


@inner
def keep(mining: MiningState, size: int) -> None:
    """Record the itemset, in place of the smallest one if the store is full."""
    place = mining.many[0] if mining.many[0] < len(mining.sizes) else mining.sizes.argmin()
    mining.found[place, :size] = mining.head[:size]
    mining.sizes[place] = size
    mining.many[0] = min(mining.many[0] + 1, len(mining.sizes))


@compile_kernel
def mine(groups: SubjectGroups, mining: MiningState, k: int, steps: int) -> int:
    """Continue the search for at most `steps` itemsets. Return the number of examined itemsets."""
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
