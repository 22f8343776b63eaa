"""Bound the cost of an interval of one attribute by the best partition of another within it.

The interval of the *outer* attribute is given. Dynamic programming finds the cheapest partition of
the *inner* attribute. All other attributes together are the *rest*. Their partition is one of a
list: a *combo*, a set of *boxes*, each a product of intervals of the rest. An outer interval, an
inner interval and a box form a generalised cell. The risk and the nats of a policy are sums over
these cells.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel, inner
from voile.tables.fitting.kernels.cells import CellRules
from voile.tables.fitting.kernels.terms import group_of, is_kept, n_log_n, share

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

ROOM = 2**16  # the sums of a few rows of all combos fit into the CPU cache


class NestedCells(NamedTuple):
    """The cells by value of the outer attribute, and the combos.

    Attributes
    ----------
    start : the cells of outer value v are `start[v]` to `start[v + 1]`.
    place : by cell, the inner value.
    rest : by cell, the combination of values of the rest.
    n, own, p, values : by cell.
    outer_width, inner_width : by value.
    last : `last[i]` is the last value of the longest inner interval that begins at i.
    box_start, box : the boxes that contain rest t are `box[box_start[t]:box_start[t + 1]]`.
    combo_start, combo : the boxes of combo c are `combo[combo_start[c]:combo_start[c + 1]]`.
    table : `table[n]` is n log n, if all numbers of subjects are whole.
    """

    start: Ints
    place: Ints
    rest: Ints
    n: Floats
    own: Floats
    p: Floats
    values: Words
    outer_width: Ints
    inner_width: Ints
    last: Ints
    box_start: Ints
    box: Ints
    box_log_width: Floats
    combo_start: Ints
    combo: Ints
    table: Floats


class BoundJobs(NamedTuple):
    """The bounds to compute: outer intervals, each with pairs of a weight and a combo.

    Row g of `ends` (intervals, 2) is an interval's first and last value. The first is the same in
    all rows, and the last ascends. Its pairs are `pair[start[g]:start[g + 1]]`.

    By pair:

    - `combo`, its combo.
    - `price` (2,) of risk and nats.
    - `multipliers` (outer + 1, inner - 1): the cost of the inner attribute's split points, summed
      over the outer values before. It has no pairs if split points cost nothing.
    """

    ends: Ints
    start: Ints
    pair: Ints
    combo: Ints
    price: Floats
    multipliers: Floats


class OuterSlab(NamedTuple):
    """The cells of an outer interval, by box and inner value."""

    n: Floats
    own: Floats
    p: Floats
    present: Words


class NestedScratch(NamedTuple):
    """Work arrays for inner intervals that begin at some values, scored by box and by combo."""

    sums: Floats
    seen: Words
    box_risk: Floats
    box_nats: Floats
    risk: Floats
    nats: Floats


@inner
def scratch_of(slab: OuterSlab, combos: int) -> NestedScratch:
    """Allocate work arrays of a size that is likely to stay in the CPU cache."""
    boxes, inners, words = slab.present.shape
    rows = min(inners, max(1, ROOM // (inners * combos)))
    risk, nats = np.empty((rows, combos, inners)), np.empty((rows, combos, inners))
    box_risk, box_nats = np.empty((boxes, inners)), np.empty((boxes, inners))
    seen = np.zeros((1, words), dtype=np.uint64)
    return NestedScratch(np.empty((4, inners)), seen, box_risk, box_nats, risk, nats)


@inner
def mark_wanted(nest: NestedCells, jobs: BoundJobs) -> tuple[Ints, Ints]:
    """Return the combos and the boxes that the jobs need."""
    combos = np.zeros(len(nest.combo_start) - 1, dtype=np.bool_)
    boxes = np.zeros(len(nest.box_log_width), dtype=np.bool_)
    for pair in jobs.pair:
        combos[jobs.combo[pair]] = True
    for c in np.flatnonzero(combos):
        for b in nest.combo[nest.combo_start[c] : nest.combo_start[c + 1]]:
            boxes[b] = True
    return np.flatnonzero(combos), np.flatnonzero(boxes)


@inner
def holding(nest: NestedCells, boxes: Ints) -> tuple[Ints, Ints]:
    """Return the given boxes that contain each value of the rest, as `box_start` and `box`."""
    needed = np.zeros(len(nest.box_log_width), dtype=np.bool_)
    needed[boxes] = True
    start, box, made = np.zeros_like(nest.box_start), np.empty_like(nest.box), 0
    for t in range(len(start) - 1):
        for b in nest.box[nest.box_start[t] : nest.box_start[t + 1]]:
            if needed[b]:
                box[made] = b
                made += 1
        start[t + 1] = made
    return start, box


@inner
def slab_of(nest: NestedCells, words: int) -> OuterSlab:
    shape = len(nest.box_log_width), len(nest.inner_width)
    present = np.zeros((*shape, words), dtype=np.uint64)
    return OuterSlab(np.zeros(shape), np.zeros(shape), np.zeros(shape), present)


@bare
def add_value(nest: NestedCells, v: int, start: Ints, box: Ints, slab: OuterSlab) -> None:
    """Add the cells of outer value v to the boxes that contain them."""
    for c in range(nest.start[v], nest.start[v + 1]):
        z, t = nest.place[c], nest.rest[c]
        for b in box[start[t] : start[t + 1]]:
            slab.n[b, z] += nest.n[c]
            slab.own[b, z] += nest.own[c]
            slab.p[b, z] += nest.p[c]
            for w in range(slab.present.shape[2]):
                slab.present[b, z, w] |= nest.values[c, w]


@bare
def score_plain(
    n: Floats, own: Floats, p: Floats, rules: CellRules, table: Floats, log_width: Floats,
    total: Floats, risk: Floats, nats: Floats,
) -> None:  # fmt: skip
    """Score the inner intervals from one value to each later value, without suppression.

    `total` (3, values) is a work array. Sums are computed first, so that the other steps handle
    many values at a time.
    """
    has, owned, people = 0.0, 0.0, 0.0
    count, group = total[0], total[1]
    for z in range(len(risk)):
        has += n[z]
        owned += own[z]
        people += p[z]
        count[z], nats[z], group[z] = has, owned, group_of(has, people)
    if rules.power == 1.0 and rules.under == math.inf:
        for z in range(len(risk)):
            risk[z] = count[z] / group[z]
    else:
        for z in range(len(risk)):
            risk[z] = share(rules, count[z], group[z])
    for z in range(len(risk)):
        nats[z] += count[z] * log_width[z]
    if len(table):
        for z in range(len(risk)):
            nats[z] -= table[np.int64(count[z])]
    else:
        for z in range(len(risk)):
            nats[z] -= n_log_n(count[z])


@bare
def score_kept(
    n: Floats, own: Floats, p: Floats, present: Words, rules: CellRules, most: float,
    log_width: Floats, seen: Words, risk: Floats, nats: Floats,
) -> None:  # fmt: skip
    """Score as `score_plain`, under the rules.

    An interval that suppresses more than `most` subjects costs infinity. No bound exists if the
    rules limit shares of sensitive values.
    """
    has, owned, people = 0.0, 0.0, 0.0
    seen[:] = 0
    for z in range(len(risk)):
        has += n[z]
        owned += own[z]
        people += p[z]
        for w in range(seen.shape[1]):
            seen[0, w] |= present[z, w]
        group = group_of(has, people)
        if has == 0.0:
            risk[z], nats[z] = 0.0, 0.0
        elif is_kept(rules, has, group, seen, 0, 0):
            risk[z] = share(rules, has, group)
            nats[z] = owned - n_log_n(has) + has * log_width[z]
        else:
            risk[z], nats[z] = np.inf if has > most else 0.0, has * rules.wholly_lost


@bare
def add(total: Floats, more: Floats) -> None:
    for z in range(len(total)):
        total[z] += more[z]


@bare
def relax(at: float, risk: Floats, nats: Floats, price: Floats, best: Floats) -> None:
    """Lower the cost of ending after each value, if an interval from here is cheaper."""
    of_risk, of_nats = price[0], price[1]
    for z in range(len(best)):
        best[z] = min(best[z], at + (of_risk * risk[z] + of_nats * nats[z]))


@bare
def relax_traced(
    at: float, risk: Floats, nats: Floats, price: Floats, best: Floats, begin: int, before: Ints
) -> None:
    """Relax, and record where the last interval begins."""
    for z in range(len(best)):
        way = at + (price[0] * risk[z] + price[1] * nats[z])
        if way < best[z]:
            best[z], before[z] = way, begin


@bare
def score_row(
    nest: NestedCells, rules: CellRules, most: float, slab: OuterSlab, width: int, i: int, row: int,
    combos: Ints, boxes: Ints, room: NestedScratch,
) -> None:  # fmt: skip
    """Score the inner intervals that begin at i, for each box, and from these for each combo."""
    to = slice(i, nest.last[i] + 1)
    log_width, span = room.sums[2], 0
    for z in range(i, nest.last[i] + 1):
        span += nest.inner_width[z]
        room.sums[3, z] = math.log(span) + math.log(width)
    plain = rules.least_n == 0.0 and rules.least_g == 0.0 and rules.least_l == 0
    for b in boxes:
        for z in range(i, nest.last[i] + 1):
            log_width[z] = room.sums[3, z] + nest.box_log_width[b]
        if plain:
            score_plain(
                slab.n[b, to], slab.own[b, to], slab.p[b, to], rules, nest.table, log_width[to],
                room.sums, room.box_risk[b, to], room.box_nats[b, to],
            )  # fmt: skip
        else:
            score_kept(
                slab.n[b, to], slab.own[b, to], slab.p[b, to], slab.present[b, to], rules, most,
                log_width[to], room.seen, room.box_risk[b, to], room.box_nats[b, to],
            )  # fmt: skip
    for c in combos:
        room.risk[row, c, to], room.nats[row, c, to] = 0.0, 0.0
        for b in nest.combo[nest.combo_start[c] : nest.combo_start[c + 1]]:
            add(room.risk[row, c, to], room.box_risk[b, to])
            add(room.nats[row, c, to], room.box_nats[b, to])


@inner
def solve(
    nest: NestedCells, rules: CellRules, most: float, slab: OuterSlab, jobs: BoundJobs, g: int,
    combos: Ints, boxes: Ints, room: NestedScratch, best: Floats, before: Ints,
) -> None:  # fmt: skip
    """Find the cheapest inner partitions of interval g, for each of its pairs."""
    inners, rows = len(nest.inner_width), len(room.risk)
    pairs = jobs.pair[jobs.start[g] : jobs.start[g + 1]]
    first, last = jobs.ends[g]
    width = nest.outer_width[first : last + 1].sum()
    best[:] = np.inf
    best[:, 0] = 0.0
    for top in range(0, inners, rows):
        below = min(top + rows, inners)
        for i in range(top, below):
            score_row(nest, rules, most, slab, width, i, i - top, combos, boxes, room)
        for k in range(len(pairs)):
            price, c = jobs.price[pairs[k]], jobs.combo[pairs[k]]
            for i in range(top, below):
                if i > 0 and len(jobs.multipliers):
                    cut = jobs.multipliers[pairs[k], :, i - 1]
                    best[k, i] += cut[last + 1] - cut[first]
                to, after = slice(i, nest.last[i] + 1), slice(i + 1, nest.last[i] + 2)
                risk, nats = room.risk[i - top, c, to], room.nats[i - top, c, to]
                if len(before):
                    relax_traced(best[k, i], risk, nats, price, best[k, after], i, before[k, after])
                else:
                    relax(best[k, i], risk, nats, price, best[k, after])


@compile_kernel
def solve_nested(
    nest: NestedCells, rules: CellRules, most: float, jobs: BoundJobs, bounds: Floats, cuts: Bits
) -> None:
    """Compute the costs of outer intervals, each with its own cheapest inner partition.

    The costs are written to `bounds` (jobs,). The partitions are written to `cuts` (jobs, inner -
    1), which may be empty. At most `most` subjects may be suppressed. Cost: O(inner^2 (boxes +
    combos + pairs)) for each interval.
    """
    inners = len(nest.inner_width)
    combos, boxes = mark_wanted(nest, jobs)
    start, box = holding(nest, boxes)
    slab = slab_of(nest, nest.values.shape[1] if rules.least_l > 0 else 0)
    room = scratch_of(slab, len(nest.combo_start) - 1)
    pairs = (jobs.start[1:] - jobs.start[:-1]).max()
    best = np.empty((pairs, inners + 1))
    before = np.zeros((pairs if len(cuts) else 0, inners + 1), dtype=np.int64)
    added = jobs.ends[0, 0]
    for g in range(len(jobs.ends)):
        while added <= jobs.ends[g, 1]:
            add_value(nest, added, start, box, slab)
            added += 1
        made = jobs.start[g + 1] - jobs.start[g]
        solve(
            nest, rules, most, slab, jobs, g, combos, boxes, room, best[:made], before[:made]
        )  # fmt: skip
        for k in range(made):
            bounds[jobs.start[g] + k] = best[k, inners]
            i = before[k, inners] if len(cuts) else 0
            while i > 0:
                cuts[jobs.start[g] + k, i - 1] = True
                i = before[k, i]


@compile_kernel
def extremes(nest: NestedCells, rules: CellRules, risk: Floats, nats: Floats) -> None:
    """Fill `risk` and `nats` (boxes, outer, outer) with lower bounds for each outer interval.

    The risk is that without inner split points. The nats, which increase with generalisation, are
    those with every inner split point. No inner partition has less of either, unless the rules
    suppress.
    """
    slab = slab_of(nest, 0)
    for first in range(len(nest.outer_width)):
        slab.n[:], slab.own[:], slab.p[:] = 0.0, 0.0, 0.0
        width = 0
        for last in range(first, len(nest.outer_width)):
            add_value(nest, last, nest.box_start, nest.box, slab)
            width += nest.outer_width[last]
            for b in range(len(nest.box_log_width)):
                n, p, lost = 0.0, 0.0, 0.0
                log_width = math.log(width) + nest.box_log_width[b]
                for z in range(len(nest.inner_width)):
                    here = slab.n[b, z]
                    n += here
                    p += slab.p[b, z]
                    if here > 0.0:
                        lost += slab.own[b, z] - n_log_n(here)
                        lost += here * (log_width + math.log(nest.inner_width[z]))
                risk[b, first, last] = share(rules, n, group_of(n, p))
                nats[b, first, last] = lost
