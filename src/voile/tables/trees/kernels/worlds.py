"""Sample the possible sensitive values of a leaf's people, if a rule prevented its splits.

A world assigns the values of a leaf, `value` (people,), to its people in some order. Split c would
put the people of `above[c]` (cuts, people) on one side. The weight of a world is the product of
`otherwise[c]` over the splits that break no rule in it. `otherwise[c]` > 0 is the probability that
such a split is missing for another reason.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel, inner
from voile.tables.trees.kernels.diverse import is_diverse
from voile.tables.trees.kernels.inputs import Floats, Ints, SensitiveRows

Bits = NDArray[np.bool_]


@compile_kernel
def drawn_worlds(
    value: Ints, above: Bits, otherwise: Floats, rules: SensitiveRows, draws: int, seed: int
) -> tuple[Floats, float]:
    """Return the total weight of worlds in which each person has each value, by random orders.

    Returns
    -------
    found : (people, values) the weights.
    worth : the effective number of worlds of equal weight: (sum w)^2 / sum w^2 (Kish 1965).

    Exact except for the random draws. Cost: O(draws x cuts x people).
    """
    np.random.seed(seed)
    total, found = np.zeros(len(rules.whole)), np.zeros((len(value), len(rules.whole)))
    for v in value:
        total[v] += 1.0
    summed, squared = 0.0, 0.0
    for _ in range(draws):
        has = np.random.permutation(value)
        weight = 1.0
        for c in range(len(above)):
            if weight > 0.0 and _is_allowed(_below(has, above[c], len(total)), total, rules):
                weight *= otherwise[c]
        for i in range(len(has)):
            found[i, has[i]] += weight
        summed += weight
        squared += weight * weight
    return found, summed * summed / squared if squared > 0.0 else 0.0


@compile_kernel
def possible_worlds(
    value: Ints, above: Bits, otherwise: Floats, rules: SensitiveRows, steps: int, seed: int
) -> Floats:
    """Return how often each person has each value, (people, values), in weighted random worlds.

    The worlds come from a Metropolis chain: two people swap values. The first half of the steps is
    warm-up. Cost: O(steps x cuts x values).
    """
    np.random.seed(seed)
    n, cuts, kinds = len(value), len(above), len(rules.whole)
    has = np.random.permutation(value)
    total, below = np.zeros(kinds), np.zeros((cuts, kinds))
    breaks, broke = np.zeros(cuts, dtype=np.bool_), np.zeros(cuts, dtype=np.bool_)
    for v in value:
        total[v] += 1.0
    now = 0.0
    for c in range(cuts):
        below[c] = _below(has, above[c], kinds)
        broke[c] = not _is_allowed(below[c], total, rules)
        now += 0.0 if broke[c] else math.log(otherwise[c])
    found, warm = np.zeros((n, kinds)), steps // 2
    for step in range(steps):
        i, j = np.random.randint(n), np.random.randint(n)
        if has[i] != has[j]:
            then = 0.0
            for c in range(cuts):
                breaks[c] = broke[c]
                if above[c, i] != above[c, j]:
                    _swap(below[c], has[i], has[j], above[c, i])
                    breaks[c] = not _is_allowed(below[c], total, rules)
                then += 0.0 if breaks[c] else math.log(otherwise[c])
            heat = min(1.0, (step + 1) / (warm + 1))
            if math.log(np.random.random()) < heat * (then - now):
                has[i], has[j], now = has[j], has[i], then
                broke[:] = breaks
            else:
                for c in range(cuts):
                    if above[c, i] != above[c, j]:
                        _swap(below[c], has[j], has[i], above[c, i])
        if step >= warm and step % n == 0:
            for p in range(n):
                found[p, has[p]] += 1.0
    return found


@compile_kernel
def chance_of_breaking(
    value: Ints, above: Bits, rules: SensitiveRows, draws: int, seed: int
) -> Floats:
    """Return, for each split, the share of equally likely worlds in which it breaks a rule."""
    np.random.seed(seed)
    total, found = np.zeros(len(rules.whole)), np.zeros(len(above))
    for v in value:
        total[v] += 1.0
    for _ in range(draws):
        has = np.random.permutation(value)
        for c in range(len(above)):
            found[c] += not _is_allowed(_below(has, above[c], len(total)), total, rules)
    return found / draws


@inner
def _below(has: Ints, above: Bits, kinds: int) -> Floats:
    """Count the values of people who would be on the lower side of a split."""
    counted = np.zeros(kinds)
    for i in range(len(has)):
        if not above[i]:
            counted[has[i]] += 1.0
    return counted


@bare
def _is_allowed(below: Floats, total: Floats, rules: SensitiveRows) -> bool:
    """Return whether both sides of a split meet the rules. An empty side always does."""
    n, whole = below.sum(), total.sum()
    left = n == 0.0 or is_diverse(below, total, False, rules)
    return left and (n == whole or is_diverse(below, total, True, rules))


@bare
def _swap(below: Floats, one: int, other: int, is_above: bool) -> None:
    """Update the lower side of a split after a person of value `one` and one of `other` swap."""
    change = 1.0 if is_above else -1.0
    below[one] += change
    below[other] -= change
