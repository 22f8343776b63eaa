"""Sample the possible sensitive values of a box's people, if a rule prevented cuts of it.

A world hands the values of a box, `value` (people,), to its people in some order. Cut c would put
`above[c]` (cuts, people) on one side. A world's weight is the product of `otherwise[c]` over the
cuts that break no rule in it. This is the chance, above 0, that such a cut is missing for another
reason.
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
    """Return (people, values) what worlds weigh in which each has each value, by random order.

    And how many worlds of equal weight these are worth: (sum w)^2 / sum w^2 (Kish 1965). Exact but
    for the draws. Cost: O(draws x cuts x people).
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
    """Return (people, values) how often each has each value, in worlds as likely as they weigh.

    Metropolis: two people swap values; half of the steps warms up. O(steps x cuts x values).
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
    """Return of each cut in how many worlds, all equally likely, it breaks a rule: a share."""
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
    """Count the values of those who would be on the lower side of a cut."""
    counted = np.zeros(kinds)
    for i in range(len(has)):
        if not above[i]:
            counted[has[i]] += 1.0
    return counted


@bare
def _is_allowed(below: Floats, total: Floats, rules: SensitiveRows) -> bool:
    """Whether both sides of a cut keep the rules; a side without people has none to keep."""
    n, whole = below.sum(), total.sum()
    left = n == 0.0 or is_diverse(below, total, False, rules)
    return left and (n == whole or is_diverse(below, total, True, rules))


@bare
def _swap(below: Floats, one: int, other: int, is_above: bool) -> None:
    """Recount the side below a cut when a person of value `one` and one of `other` swap."""
    change = 1.0 if is_above else -1.0
    below[one] += change
    below[other] -= change
