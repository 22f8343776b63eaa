"""Merge two neighbouring intervals of a lattice by moving the smaller slab to the larger one."""

from __future__ import annotations

import numpy as np

from voile.core.compiled import bare, inner
from voile.tables.fitting.kernels.hashing import insert, lookup, remove
from voile.tables.fitting.kernels.joining import join
from voile.tables.fitting.kernels.lattice import Ints, LatticeWalk, Places


@inner
def merge(at: LatticeWalk, d: int, cut: int) -> int:
    """Merge the intervals of attribute `d` on both sides of `cut`, and return the merged name.

    `cut` is the last value of the left interval.
    """
    start = at.start[d]
    i, j = start + at.name_at[start + cut], start + at.name_at[start + cut + 1]
    first, last, width = at.first[i], at.last[j], at.width[i] + at.width[j]
    stays, goes = (i, j) if at.length[i] >= at.length[j] else (j, i)
    for kind in range(2):
        head, tail = at.head[kind], at.tail[kind]
        cells = living(at, d, head, tail, goes, at.moved)
        at.length[stays] += len(cells)
        move(at, d, stays - start, (stays - goes) * at.stride[d], cells)
        append(head, tail, at.after[d], stays, goes)
    at.mass[stays] += at.mass[goes]
    at.kept_mass[stays] += at.kept_mass[goes]
    at.first[stays], at.last[stays], at.width[stays] = first, last, width
    at.name_at[start + first] = stays - start
    at.name_at[start + last] = stays - start
    if at.state[0] > 4 and at.state[1] * 8 < 1 << at.state[0]:
        shrink(at)
    return int(stays - start)


@inner
def living(at: LatticeWalk, d: int, head: Ints, tail: Ints, i: int, out: Ints) -> Ints:
    """Write the living cells of a list of interval `i` to `out`, and unlink the dead ones.

    The written part of `out` is returned. `head` and `tail` are the rows of `at.head` and `at.tail`
    of one kind of list.
    """
    before, c, count = np.int64(-1), head[i], 0
    while c >= 0:
        following = np.int64(at.after[d, c])
        if at.key[c] >= 0:
            out[count] = c
            count += 1
            before = c
        elif before < 0:
            head[i] = following
        else:
            at.after[d, before] = following
        c = following
    tail[i] = before
    return out[:count]


@bare
def move(at: LatticeWalk, d: int, name: int, shift: int, cells: Ints) -> None:
    """Move cells to interval `name` of attribute `d`, by `shift` in key.

    If two cells become one, the cell at the target remains, or else the only sampled one.
    """
    key, p, table, bits, sampled = at.key, at.p, at.table, at.state[0], at.sampled
    for m in range(len(cells)):
        c = cells[m]
        remove(table, bits, key[c])
        there = lookup(table, bits, key[c] + shift)
        stays, goes = (there, c) if 0 <= there < sampled or c >= sampled else (c, there)
        if there >= 0:
            if stays < sampled:
                join(at, stays, goes, d)
            p[stays] += p[goes]
            key[goes] = -1
            at.state[1] -= 1
        if there < 0 or stays == c:
            key[c] += shift
            insert(table, bits, key[c], c)
            if c < sampled:
                at.code[c, d] = name


@bare
def append(head: Ints, tail: Ints, after: Places, stays: int, goes: int) -> None:
    """Append the list of the removed interval to the list of the remaining interval."""
    if head[goes] < 0:
        return
    if tail[stays] < 0:
        head[stays] = head[goes]
    else:
        after[tail[stays]] = head[goes]
    tail[stays] = tail[goes]


@bare
def shrink(at: LatticeWalk) -> None:
    """Use only the front of the table, so that looked-up entries stay in the CPU cache."""
    at.table[: 2 << at.state[0]] = -1
    while at.state[1] * 4 < 1 << at.state[0] and at.state[0] > 4:
        at.state[0] -= 1
    for c in range(len(at.key)):
        if at.key[c] >= 0:
            insert(at.table, at.state[0], at.key[c], c)
