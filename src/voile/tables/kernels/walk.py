"""Walk from the bottom of a lattice towards its top, one merge at a time.

`follow` takes merges in a given order and scores each policy on the way. `descend` keeps, for
every pair of neighbouring intervals, what merging it would change, scores all neighbours of
each policy on the way from that, and merges the best pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.tables.kernels.compiled import compiled, inlined
from voile.tables.kernels.lattice import (
    KEPT_NATS,
    KEPT_RISK,
    NATS,
    RISK,
    SUPPRESSED,
    Floats,
    Ints,
    Lattice,
    Places,
    kept_change,
    living,
    merge,
    neighbour,
    plain_change,
    totals,
    widths_part,
)

BY_RISK, BY_SUPPRESSED = 0, 1


@inlined
def place(at: Lattice, bit: int) -> tuple[int, int]:
    """Return the attribute of a bit and the value before its cut."""
    d = 0
    while bit >= at.sizes[d] - 1:
        bit -= at.sizes[d] - 1
        d += 1
    return d, bit


@compiled
def follow(at: Lattice, order: Ints, risk: Floats, nats: Floats, suppressed: Floats) -> None:
    """Merge at each bit of `order` in turn; fill the totals after each merge."""
    for step in range(len(order)):
        d, cut = place(at, order[step])
        merge(at, d, cut)
        risk[step], nats[step], suppressed[step] = totals(at)


@inlined
def add_pair(at: Lattice, change: Floats, d: int, left: int, right: int, sign: float) -> None:
    """Add what merging along `d` does to two neighbouring cells to their intervals' change."""
    i = at.start[d] + at.code[left, d]
    row = change[at.start[d] - d + at.last[i]]
    risk, nats = plain_change(at, left, right)
    row[RISK] += sign * risk
    row[NATS] += sign * nats
    if at.constrained:
        risk, nats, gain = kept_change(at, left, right)
        if gain > 0:
            j = at.start[d] + at.code[right, d]
            width = at.log[at.width[i] + at.width[j]]
            for e in range(len(at.sizes)):
                if e != d:
                    width += at.log[at.width[at.start[e] + at.code[left, e]]]
            nats += gain * (width - at.rules.wholly_lost)
        row[KEPT_RISK] += sign * risk
        row[KEPT_NATS] += sign * nats
        row[SUPPRESSED] -= sign * gain


@compiled
def touch(at: Lattice, change: Floats, cells: Ints, count: int, merged: int, sign: float) -> None:
    """Add or take away every pair, but along attribute `merged`, that has one of `cells`.

    A pair of two sampled cells is met at its left one, since both lie in the same slab.
    """
    for m in range(count):
        c = cells[m]
        for d in range(len(at.sizes)):
            if d == merged:
                continue
            right = neighbour(at, c, d, True)
            if right >= 0:
                add_pair(at, change, d, c, right, sign)
            left = neighbour(at, c, d, False)
            if left >= at.sampled:
                add_pair(at, change, d, left, c, sign)


@compiled
def add_cut(at: Lattice, change: Floats, d: int, cut: int, buffer: Ints) -> None:
    """Compute the change of one pair of intervals anew from the cells beside its cut."""
    if cut < 0 or cut >= at.sizes[d] - 1:
        return
    change[at.start[d] - d + cut] = 0.0
    count = living(at, d, 0, at.start[d] + at.name_at[at.start[d] + cut], buffer, 0)
    for m in range(count):
        right = neighbour(at, buffer[m], d, True)
        if right >= 0:
            add_pair(at, change, d, buffer[m], right, 1.0)
    count = living(at, d, 0, at.start[d] + at.name_at[at.start[d] + cut + 1], buffer, 0)
    for m in range(count):
        left = neighbour(at, buffer[m], d, False)
        if left >= at.sampled:
            add_pair(at, change, d, left, buffer[m], 1.0)


@compiled
def changes(at: Lattice, open_bits: NDArray[np.bool_]) -> Floats:
    """Return what merging each pair changes in the five sums, (n_bits, 5); every cut is there."""
    change = np.zeros((len(open_bits), 5))
    everything = np.empty(at.sampled, dtype=np.int64)
    for c in range(at.sampled):
        everything[c] = c
    touch(at, change, everything, at.sampled, -1, 1.0)
    return change


@compiled
def merge_and_update(at: Lattice, change: Floats, bit: int, buffer: Ints) -> None:
    """Merge at one bit, and change only what the two slabs touched."""
    d, cut = place(at, bit)
    for side in range(2):
        i = at.start[d] + at.name_at[at.start[d] + cut + side]
        count = living(at, d, 0, i, buffer, 0)
        touch(at, change, buffer, count, d, -1.0)
    name = merge(at, d, cut)
    i = at.start[d] + name
    count = living(at, d, 0, i, buffer, 0)
    touch(at, change, buffer, count, d, 1.0)
    add_cut(at, change, d, at.first[i] - 1, buffer)
    add_cut(at, change, d, at.last[i], buffer)


@inlined
def stretch(at: Lattice, mass: Floats, d: int, cut: int) -> float:
    """Return the change of the intervals' part of the nats when the pair at `cut` merges."""
    i = at.start[d] + at.name_at[at.start[d] + cut]
    j = at.start[d] + at.name_at[at.start[d] + cut + 1]
    both = at.log[at.width[i] + at.width[j]]
    return mass[i] * (both - at.log[at.width[i]]) + mass[j] * (both - at.log[at.width[j]])


@compiled
def descend(
    at: Lattice,
    change: Floats,
    open_bits: NDArray[np.bool_],
    guide: int,
    allowed: float,
    steps: int,
    risk: Floats,
    nats: Floats,
    suppressed: Floats,
    merged: Places,
) -> tuple[int, Places]:
    """Score all neighbours of each policy for `steps` merges; return their number and bits.

    Fills risk, nats and suppressed of neighbour after neighbour, and `merged` with the bit
    merged at each step. Pairs that cost nothing are merged first; then the pair with the most
    risk (or, guided by what is suppressed, while more than `allowed` is: the most suppressed
    subjects) taken away for each nat lost. Closes the bits that it merges.
    """
    bits = np.empty(len(risk), dtype=np.int32)
    buffer = np.empty(at.sampled, dtype=np.int64)
    tiny = 1e-12 * len(at.key)
    written = 0
    for step in range(steps):
        plain_risk = at.sums[RISK]
        plain_nats = at.sums[NATS] + widths_part(at, at.mass)
        kept_risk, kept_nats, dropped = totals(at)
        rescue = guide == BY_SUPPRESSED and dropped > allowed
        best, best_score, bit = -1, -1.0, 0
        second_score = -1.0
        for d in range(len(at.sizes)):
            for cut in range(at.sizes[d] - 1):
                if open_bits[bit]:
                    cost = change[bit, NATS] + stretch(at, at.mass, d, cut)
                    if at.constrained:
                        stretched = stretch(at, at.kept_mass, d, cut)
                        risk[written] = kept_risk + change[bit, KEPT_RISK]
                        nats[written] = kept_nats + change[bit, KEPT_NATS] + stretched
                        suppressed[written] = dropped + change[bit, SUPPRESSED]
                    else:
                        risk[written] = plain_risk + change[bit, RISK]
                        nats[written] = plain_nats + cost
                        suppressed[written] = 0.0
                    bits[written] = bit
                    written += 1
                    second = -change[bit, RISK] / max(cost, tiny)
                    score = -change[bit, SUPPRESSED] / max(cost, tiny) if rescue else second
                    if cost <= tiny:
                        score = np.inf
                    if score > best_score or (score == best_score and second > second_score):
                        best, best_score, second_score = bit, score, second
                bit += 1
        merged[step] = best
        open_bits[best] = False
        merge_and_update(at, change, best, buffer)
    return written, bits
