"""Find the cells of a merge's two slabs, for scores that are computed in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner
from voile.tables.fitting.kernels.hashing import lookup
from voile.tables.fitting.kernels.lattice import Floats, Ints, LatticeWalk
from voile.tables.fitting.kernels.merging import living, merge
from voile.tables.fitting.kernels.walk import place


@inner
def slab(at: LatticeWalk, d: int, value: int) -> Ints:
    """Return the sampled cells of the interval of attribute `d` that ends or begins at `value`."""
    i = at.start[d] + at.name_at[at.start[d] + value]
    return living(at, d, at.head[0], at.tail[0], i, at.moved).copy()


@compile_kernel
def left_and_right(at: LatticeWalk, bit: int) -> tuple[Ints, Ints]:
    """Return the sampled cells on both sides of a kept split point."""
    d, cut = place(at, bit)
    return slab(at, d, cut), slab(at, d, cut + 1)


@compile_kernel
def merge_slabs(at: LatticeWalk, bit: int, left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """Merge at `bit`, and return each cell's new position and the neighbouring bits.

    The cells of the left slab come first.
    """
    d, cut = place(at, bit)
    start = at.start[d]
    keys = np.concatenate((at.key[left], at.key[right]))
    before = at.name_at[start + cut], at.name_at[start + cut + 1]
    after = merge(at, d, cut)
    into = np.empty(len(keys), dtype=np.int64)
    for m in range(len(keys)):
        name = before[0] if m < len(left) else before[1]
        into[m] = lookup(at.table, at.state[0], keys[m] + (after - name) * at.stride[d])
    first, last = at.first[start + after], at.last[start + after]
    beside = [bit - cut + first - 1] if first > 0 else [bit][:0]
    if last < at.sizes[d] - 1:
        beside.append(bit - cut + last)
    return into, np.array(beside)


@compile_kernel
def attribute_of(at: LatticeWalk, bit: int) -> int:
    return place(at, bit)[0]


@compile_kernel
def widths(at: LatticeWalk, cells: Ints) -> Floats:
    """Return the number of combinations of the whole domains that each sampled cell represents."""
    width = np.ones(len(cells))
    for m in range(len(cells)):
        for d in range(len(at.sizes)):
            width[m] *= at.width[at.start[d] + at.code[cells[m], d]]
    return width


@compile_kernel
def pairs(
    at: LatticeWalk, cells: Ints, sides: NDArray[np.bool_]
) -> tuple[Ints, Ints, Ints, Floats]:
    """Return the pairs that a merge joins: sampled cell, other cell, bit and joint width.

    `sides` (attributes, 2) selects the attributes, and for each the left and the right interval. A
    pair of sampled cells counts at the left one. `other` is -1 if the neighbouring interval has
    nobody there. The cell then only becomes wider.
    """
    most = len(cells) * int(sides.sum())
    one, other = np.empty(most, np.int64), np.empty(most, np.int64)
    bits, width, made = np.empty(most, np.int64), np.empty(most), 0
    own = widths(at, cells)
    for m in range(len(cells)):
        c = cells[m]
        for d in range(len(at.sizes)):
            here = np.int64(at.code[c, d])
            i = at.start[d] + here
            for side in range(2):
                v = at.first[i] - 1 if side == 0 else at.last[i] + 1
                if v < 0 or v == at.sizes[d] or not sides[d, side]:
                    continue
                beside = at.name_at[at.start[d] + v]
                key = at.key[c] + (beside - here) * at.stride[d]
                found = lookup(at.table, at.state[0], key)
                if side == 0 and 0 <= found < at.sampled:
                    continue
                one[made], other[made] = c, found
                bits[made] = at.start[d] - d + (v if side == 0 else v - 1)
                width[made] = own[m] / at.width[i] * (at.width[i] + at.width[at.start[d] + beside])
                made += 1
    return one[:made], other[:made], bits[:made], width[:made]
