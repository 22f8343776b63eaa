"""Branch and bound for the feasible set of the largest weight, which can run in steps.

Two features are a *clash* if each may join a feasible set, but not both. The added features have no
clashes, so they are a clique in the graph of pairs without a clash. A colouring of that graph, with
clashing pairs in each colour, bounds the clique's weight (Tomita, Seki 2003). The bound is closer
if a feature's weight is split among several colours (Babel 1994). A larger set has all clashes of a
smaller one, so each set is first bounded by the clashes of the previous step. The search tests all
pairs only if the set can still beat the best one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.itemsets.kernels.admission import AdmissionRule, admits
from voile.itemsets.kernels.bits import NONE, ONE, Words, clear, first_of, has
from voile.itemsets.kernels.covers import RowCovers, cover, together
from voile.itemsets.kernels.groups import Counts, Items, SubjectGroups, holders_of
from voile.itemsets.kernels.partition import SharedClasses, share

Floats = NDArray[np.float64]
Table = NDArray[np.int32]


class BranchState(NamedTuple):
    """The state of the branch and bound search. Each table has one row for each depth.

    Features are numbered by falling weight.

    - `pairs` : bit rows of the features that may be shared together.
    - `alive` : bits of the features that may still join.
    - `order[: left]` : the features still to try.
    - `bound` : the largest weight that the features up to each position can add.
    - `path`, `worth` : the shared features and their weight.
    - `stand` : the depth (-1 at the end), whether it was entered, and the number of tested pairs.
    - `best` : the best set as 0/1.
    - `most` : the weight of the best set, and the bound at the root.
    - `covers` : the set at each depth, if `covers` has features. Otherwise the tables from `of` to
      `sizes` describe it, as in `SharedClasses`.
    """

    weights: Floats
    pairs: NDArray[np.uint64]
    order: Table
    bound: Floats
    left: Counts
    alive: Words
    path: Items
    worth: Floats
    of: Table
    lead: Table
    length: Table
    patterns: Table
    weight: Counts
    sizes: Counts
    stand: Counts
    best: Items
    most: Floats
    covers: RowCovers


@inner
def classes_at(search: BranchState, classes: SharedClasses, depth: int) -> SharedClasses:
    """Return the partition at a depth.

    Ranks are only appended, so all depths use the same array.
    """
    return SharedClasses(
        search.of[depth],
        classes.ranks,
        search.lead[depth],
        search.length[depth],
        search.patterns[depth],
        search.weight[depth],
        search.sizes[depth],
        classes.place,
        classes.moving,
        classes.weighs,
        classes.marks,
    )


@compile_kernel
def colour(search: BranchState, depth: int, known: int) -> None:
    """Order the remaining features of a depth by colour, and bound the gain up to each feature.

    The clashes of depth `known` are used. Each colour subtracts the least remaining weight of its
    features from each of them, and adds it once to the bound. A feature is placed in the order when
    it has no remaining weight.
    """
    pairs, uncoloured = search.pairs[known], search.alive[depth].copy()
    rest, clique = search.weights.copy(), np.empty(len(search.weights), dtype=np.int32)
    n, total, first = 0, 0.0, 0
    while first < len(uncoloured):
        if uncoloured[first] == NONE:
            first += 1
            continue
        members, size, least = uncoloured.copy(), 0, np.inf
        for word in range(first, len(members)):
            while members[word] != NONE:
                x = word * 64 + first_of(members[word])
                clear(members, x)
                for w in range(word, len(members)):
                    members[w] &= ~pairs[x, w]
                clique[size] = x
                size += 1
                least = min(least, rest[x])
        total += least
        for x in clique[:size]:
            rest[x] -= least
            if rest[x] == 0.0:
                clear(uncoloured, x)
                search.order[depth, n] = x
                search.bound[depth, n] = total
                n += 1
    search.left[depth] = n


@inner
def promise(search: BranchState, depth: int) -> float:
    """Return an upper bound of the weight that the set at a depth can still reach."""
    left = search.left[depth]
    return float(search.worth[depth] + (search.bound[depth, left - 1] if left else 0.0))


@compile_kernel
def explore(
    groups: SubjectGroups,
    classes: SharedClasses,
    rule: AdmissionRule,
    search: BranchState,
    steps: int,
    tries: int,
    slack: float,
) -> int:
    """Continue the search for at most `steps` sets, or about `tries` pairs.

    Sets are skipped if they can weigh at most `slack` more than the best set.

    Returns
    -------
    The number of examined sets.
    """
    done = 0
    part = np.empty(len(search.weights) + 1, dtype=np.int32)
    tried = search.stand[2] + tries
    while search.stand[0] >= 0 and done < steps and search.stand[2] < tried:
        depth = search.stand[0]
        if search.stand[1] == 0:
            enter(groups, classes, rule, search, depth, slack, part)
            search.stand[1] = 1
            done += 1
        left = search.left[depth]
        if depth == 0:
            search.most[1] = promise(search, 0)
        if left == 0 or promise(search, depth) <= search.most[0] + slack:
            search.stand[0] -= 1
            continue
        x = search.order[depth, left - 1]
        search.left[depth] = left - 1
        clear(search.alive[depth], x)
        search.path[depth] = x
        search.worth[depth + 1] = search.worth[depth] + search.weights[x]
        for word in range(search.alive.shape[1]):
            search.alive[depth + 1, word] = search.alive[depth, word] & search.pairs[depth, x, word]
        search.stand[0], search.stand[1] = depth + 1, 0
    return done


@inner
def enter(
    groups: SubjectGroups,
    classes: SharedClasses,
    rule: AdmissionRule,
    search: BranchState,
    depth: int,
    slack: float,
    part: Items,
) -> None:
    """Record the set if it is the best, then order the features that may join it.

    The clashes of the previous depth are used first, because they need no tests.
    """
    if search.worth[depth] > search.most[0]:
        search.most[0] = search.worth[depth]
        search.best[:] = 0
        for d in range(depth):
            search.best[search.path[d]] = 1
    above = max(depth - 1, 0)
    colour(search, depth, above)
    if promise(search, depth) > search.most[0] + slack:
        if depth > 0:
            search.pairs[depth] = search.pairs[above]
            descend(groups, classes, search, above, search.path[above])
        if len(search.covers.holders) > 0:
            find_covered(search, depth, rule.k)
        else:
            find_clashes(groups, classes, rule, search, depth, part)
        colour(search, depth, depth)


@inner
def find_covered(search: BranchState, depth: int, k: int) -> None:
    """Test every pair of the remaining features of a depth, with the bits of `covers`."""
    pairs, alive = search.pairs[depth], search.alive[depth]
    left = np.empty(search.covers.holders.shape[1], dtype=np.uint64)
    for x in range(len(search.weights)):
        if not has(alive, x):
            continue
        for z in range(x + 1, len(search.weights)):
            if has(alive, z) and has(pairs[x], z):
                search.stand[2] += 1
                if not together(search.covers, depth, x, z, k, left):
                    clear(pairs[x], z)
                    clear(pairs[z], x)


@inner
def find_clashes(
    groups: SubjectGroups,
    classes: SharedClasses,
    rule: AdmissionRule,
    search: BranchState,
    depth: int,
    part: Items,
) -> None:
    """Test every pair of the remaining features of a depth, with the classes of the set."""
    pairs, alive = search.pairs[depth], search.alive[depth]
    for x in range(len(search.weights)):
        if not has(alive, x):
            continue
        descend(groups, classes, search, depth, x)
        beside = classes_at(search, classes, depth + 1)
        for z in range(x + 1, len(search.weights)):
            if has(alive, z) and has(pairs[x], z):
                search.stand[2] += 1
                if not admits(groups, beside, rule, z, part):
                    clear(pairs[x], z)
                    clear(pairs[z], x)


@inner
def descend(
    groups: SubjectGroups, classes: SharedClasses, search: BranchState, depth: int, x: int
) -> None:
    """Add feature x to the shared features, one depth further."""
    below = depth + 1
    if len(search.covers.holders) > 0:
        cover(search.covers, below, x)
        return
    n = search.sizes[depth, 0]
    search.of[below] = search.of[depth]
    search.lead[below, :n] = search.lead[depth, :n]
    search.length[below, :n] = search.length[depth, :n]
    search.patterns[below, :n] = search.patterns[depth, :n]
    search.weight[below, :n] = search.weight[depth, :n]
    search.sizes[below] = search.sizes[depth]
    share(groups, classes_at(search, classes, below), x)


@compile_kernel
def may_pair(groups: SubjectGroups, own: Counts, k: int, pairs: Words) -> None:
    """Set the bits of the pairs of features that occur together in no row, or in enough rows.

    Each pattern counts as `own` rows, which is at least its number of subjects. Pairs without a bit
    are therefore certainly infeasible.
    """
    features = len(groups.column_starts) - 1
    together = np.zeros(features, dtype=np.int64)
    for x in range(features):
        for p in holders_of(groups, x):
            for z in groups.items[groups.starts[p] : groups.starts[p + 1]]:
                together[z] += own[p]
        for z in range(features):
            if z != x and (together[z] == 0 or together[z] >= k):
                pairs[x, z >> 6] |= ONE << np.uint64(z & 63)
            together[z] = 0
