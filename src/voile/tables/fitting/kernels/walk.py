"""Walk from the bottom of a lattice towards its top, one merge at a time.

`follow` merges in a given order. `descend` stores the change that merging each pair of neighbouring
intervals would make. It scores all neighbours of each policy from these changes, and merges the
best pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel, inner
from voile.tables.fitting.kernels.hashing import lookup
from voile.tables.fitting.kernels.joining import charge_details, kept_change, plain_change
from voile.tables.fitting.kernels.lattice import (
    KEPT_NATS,
    KEPT_RISK,
    NATS,
    RISK,
    SUPPRESSED,
    Floats,
    Ints,
    LatticeWalk,
    Places,
    totals,
    widths_part,
)
from voile.tables.fitting.kernels.merging import living, merge

BY_RISK, BY_BOTH = 0, 1


@bare
def place(at: LatticeWalk, bit: int) -> tuple[int, int]:
    """Return the attribute of a bit, and the value before its split point."""
    d = 0
    while bit >= at.sizes[d] - 1:
        bit -= at.sizes[d] - 1
        d += 1
    return d, bit


@compile_kernel
def follow(at: LatticeWalk, order: Ints, sums: Floats) -> None:
    """Merge at each bit of `order` in turn, and fill in the totals (merges, 3) after each merge."""
    for step in range(len(order)):
        d, cut = place(at, order[step])
        merge(at, d, cut)
        sums[step, 0], sums[step, 1], sums[step, 2] = totals(at)


@bare
def touch(
    at: LatticeWalk, change: Floats, cells: Ints, sides: NDArray[np.bool_], sign: float
) -> None:
    """Add to `change` (or, with sign -1, subtract) the pairs that contain the given sampled cells.

    `sides` (attributes, 2) selects the attributes, and for each the left and the right neighbour. A
    pair of sampled cells counts at the left one.
    """
    key, code, table, bits = at.key, at.code, at.table, at.state[0]
    start, sizes, stride, name_at = at.start, at.sizes, at.stride, at.name_at
    first, last, sampled = at.first, at.last, at.sampled
    for m in range(len(cells)):
        c = cells[m]
        for d in range(len(sizes)):
            here = np.int64(code[c, d])
            i = start[d] + here
            for side in range(2):
                v = first[i] - 1 if side == 0 else last[i] + 1
                if v < 0 or v == sizes[d] or not sides[d, side]:
                    continue
                beside = name_at[start[d] + v]
                other = lookup(table, bits, key[c] + (beside - here) * stride[d])
                if other < 0 or (side == 0 and other < sampled):
                    continue
                bit = start[d] - d + (v if side == 0 else v - 1)
                more = charge_details(at, c, other, d)
                risk, less = plain_change(at, c, other)
                change[bit, RISK] += sign * risk
                change[bit, NATS] += sign * (at.rules.slope * less - more)
                if at.constrained:
                    touch_kept(at, change[bit], c, other, d, beside, more, sign)


@bare
def touch_kept(
    at: LatticeWalk,
    change: Floats,
    c: int,
    other: int,
    d: int,
    beside: int,
    more: float,
    sign: float,
) -> None:
    """Update the kept sums for one pair, as `touch` does.

    A subject that is kept again loses the nats of both widths.
    """
    risk, nats, gain = kept_change(at, c, other, more)
    if gain != 0.0:
        width = at.width[at.start[d] + at.code[c, d]] + at.width[at.start[d] + beside]
        log_width = at.log[width]
        for e in range(len(at.sizes)):
            if e != d:
                log_width += at.log[at.width[at.start[e] + at.code[c, e]]]
        nats += gain * (at.rules.spread * log_width - at.rules.wholly_lost)
    change[KEPT_RISK] += sign * risk
    change[KEPT_NATS] += sign * nats
    change[SUPPRESSED] -= sign * gain


@compile_kernel
def changes(at: LatticeWalk) -> Floats:
    """Return the changes of the five sums by merging each pair of neighbours, (n_bits, 5)."""
    change = np.zeros(((at.sizes - 1).sum(), 5))
    sides = np.ones((len(at.sizes), 2), dtype=np.bool_)
    touch(at, change, np.flatnonzero(at.key[: at.sampled] >= 0), sides, 1.0)
    return change


@inner
def merge_and_update(at: LatticeWalk, change: Floats, bit: int, buffer: Ints) -> None:
    """Merge at one bit, and update only the changes of pairs next to the two slabs.

    Along the other attributes, the pairs of both slabs' cells are updated, before and after. Along
    the merged attribute, the pairs of intervals on both sides are recomputed.
    """
    d, cut = place(at, bit)
    start, head, tail = at.start[d], at.head[0], at.tail[0]
    sides = np.ones((len(at.sizes), 2), dtype=np.bool_)
    sides[d] = False
    for value in range(cut, cut + 2):
        cells = living(at, d, head, tail, start + at.name_at[start + value], buffer)
        touch(at, change, cells, sides, -1.0)
    i = start + merge(at, d, cut)
    touch(at, change, living(at, d, head, tail, i, buffer), sides, 1.0)
    sides[:] = False
    for left in (at.first[i] - 1, at.last[i]):
        if left < 0 or left == at.sizes[d] - 1:
            continue
        change[start - d + left] = 0.0
        for side in range(2):
            sides[d, 1 - side], sides[d, side] = True, False
            cells = living(at, d, head, tail, start + at.name_at[start + left + side], buffer)
            touch(at, change, cells, sides, 1.0)


@bare
def stretch(at: LatticeWalk, mass: Floats, d: int, cut: int) -> float:
    """Return the change of the intervals' part of the nats if the pair at `cut` is merged."""
    i = at.start[d] + at.name_at[at.start[d] + cut]
    j = at.start[d] + at.name_at[at.start[d] + cut + 1]
    both = at.log[at.width[i] + at.width[j]]
    change = mass[i] * (both - at.log[at.width[i]]) + mass[j] * (both - at.log[at.width[j]])
    return float(at.rules.spread * change)


@compile_kernel
def descend(
    at: LatticeWalk,
    change: Floats,
    open_bits: NDArray[np.bool_],
    guide: int,
    allowed: float,
    steps: int,
    sums: Floats,
    merged: Places,
) -> tuple[int, Places]:
    """Score all neighbours of each policy for `steps` merges, and return their number and bits.

    The sums of all neighbours are written to `sums`, and the bit merged at each step to `merged`.
    Pairs that cost nothing are merged first, and then the pair that removes the largest share of
    the plain risk for each lost nat. With `BY_BOTH`, while more than `allowed` is suppressed, the
    removed share of it counts as well.
    """
    bits = np.empty(len(sums), dtype=np.int32)
    buffer = np.empty(at.sampled, dtype=np.int64)
    tiny = 1e-12 * len(at.key)
    written = 0
    for step in range(steps):
        plain_risk = at.sums[RISK]
        unit = plain_risk if plain_risk > 0.0 else 1.0
        plain_nats = at.sums[NATS] + widths_part(at, at.mass)
        kept_risk, kept_nats, dropped = totals(at)
        rescue = guide == BY_BOTH and dropped > allowed
        best, best_score, bit = len(open_bits), -np.inf, 0
        for d in range(len(at.sizes)):
            for cut in range(at.sizes[d] - 1):
                if open_bits[bit]:
                    cost = change[bit, NATS] + stretch(at, at.mass, d, cut)
                    if at.constrained:
                        stretched = stretch(at, at.kept_mass, d, cut)
                        sums[written, 0] = kept_risk + change[bit, KEPT_RISK]
                        sums[written, 1] = kept_nats + change[bit, KEPT_NATS] + stretched
                        sums[written, 2] = dropped + change[bit, SUPPRESSED]
                    else:
                        sums[written, 0] = plain_risk + change[bit, RISK]
                        sums[written, 1] = plain_nats + cost
                        sums[written, 2] = 0.0
                    bits[written] = bit
                    written += 1
                    taken = -change[bit, RISK] / unit
                    if rescue:
                        taken -= change[bit, SUPPRESSED] / dropped
                    score = taken / max(cost, tiny)
                    if cost <= tiny:
                        score = np.inf
                    if score > best_score:
                        best, best_score = bit, score
                bit += 1
        merged[step] = best
        open_bits[best] = False
        merge_and_update(at, change, best, buffer)
    return written, bits
