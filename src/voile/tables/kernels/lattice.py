"""The generalised cells of one policy, and what merging two neighbouring intervals changes.

Cells are found by their coordinates in a hash table; the cells of each interval (its *slab*)
form a linked list, sampled cells apart from those with people only. A merge moves the smaller
slab, so that all merges of a chain move O(cells log cells) cells for each attribute.

An interval is named by one of its values (its *name*); arrays over intervals are indexed by
`start[d] + name`. A pair of neighbours is named by the cut between them, a bit of the policy.

Two sums are kept side by side: *plain*, with nothing suppressed, and *kept*, under the rules.
Nats lost = the cells' own part (own - slope n log n) + the intervals' part (spread x mass x log
width) + what suppressed subjects count. What the details of a cell are charged is taken from its
own; they are lists in order of value, one for each cell and attribute, joined as cells merge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compiled, inner
from voile.tables.kernels.cells import LatticeCells, Rules, Shares
from voile.tables.kernels.hashing import insert, lookup, remove
from voile.tables.kernels.terms import (
    asks_shares,
    group_of,
    has_shares,
    is_kept,
    n_log_n,
    share,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]

RISK, NATS, KEPT_RISK, KEPT_NATS, SUPPRESSED = range(5)
DIRECT = 8
NO_SHOWN = np.zeros((0, 0))
N, OWN, N_LOG_N, MATCH = range(4)


class Lattice(NamedTuple):
    """The mutable state of a walk; arrays only, so that a copy starts another walk.

    By cell: `key`, -1 once merged into another; `p`. The first `sampled` cells have subjects,
    and only they have `code` (sampled, attributes), the names of their intervals; `cell`, their
    n, own, n log n and n / g; `kept`; `values` and `shares`, as in `LatticeCells`.

    By interval: `first`, `last` value; `width`; `mass` of subjects and `kept_mass`; `head` and
    `tail` of its two lists, (2, intervals), 0 sampled and 1 people only, which `after`
    (attributes, cells) links; `length`, cells ever put in. `name_at[start[d] + v]` names the
    interval that begins or ends at value v.

    By detail: `value`, `n` and `n_log_n` (in `detail`), the `following` one of its cell's list;
    `begins` (attributes, sampled) is where a list begins, -1 where it is empty. `charge` is by
    attribute, of no length where nothing is charged.

    `sums` are five totals, cells' part only; `table` maps keys to cells; `state` is its bits
    and the number of living cells; `moved` is room to work in.
    """

    rules: Rules
    constrained: bool
    sampled: int
    sizes: Ints
    start: Ints
    stride: Ints
    log: Floats
    key: Ints
    code: Places
    p: Floats
    cell: Floats
    kept: NDArray[np.bool_]
    values: NDArray[np.uint64]
    shares: Shares
    first: Ints
    last: Ints
    name_at: Ints
    width: Ints
    mass: Floats
    kept_mass: Floats
    head: Ints
    tail: Ints
    length: Ints
    after: Places
    charge: Floats
    value: Places
    detail: Floats
    begins: Places
    following: Places
    sums: Floats
    table: Ints
    state: Ints
    moved: Ints

    def copy(self) -> Lattice:
        copied = Lattice._make(x.copy() if isinstance(x, np.ndarray) else x for x in self)
        return copied._replace(shares=self.shares._replace(shown=self.shares.shown.copy()))


def lattice(cells: LatticeCells, rules: Rules) -> Lattice:
    """Return the state at the bottom: every cell on its own."""
    count, attributes = cells.codes.shape
    sampled, intervals = len(cells.n), len(cells.widths)
    cell = np.zeros((sampled, 4))
    cell[:, N], cell[:, OWN] = cells.n, cells.own
    name = np.concatenate([np.arange(size) for size in cells.sizes])
    combinations = int(np.prod(cells.sizes))
    bits = 0 if combinations <= DIRECT * count else max(4, count.bit_length() + 1)
    details = cells.details
    order = np.lexsort((details.value, details.attribute, details.cell))
    made = Lattice(
        rules=rules,
        constrained=rules.active,
        sampled=sampled,
        sizes=cells.sizes,
        start=np.cumsum(cells.sizes) - cells.sizes,
        stride=np.concatenate([np.cumprod(cells.sizes[:0:-1])[::-1], [1]]).astype(np.int64),
        log=np.log(np.maximum(np.arange(cells.widths.sum() + 1), 1)),
        key=np.ravel_multi_index(list(cells.codes.T), tuple(cells.sizes)).astype(np.int64),
        code=cells.codes[:sampled].copy(),
        p=cells.p.copy(),
        cell=cell,
        kept=np.zeros(sampled, dtype=np.bool_),
        values=cells.values.copy(),
        shares=cells.shares._replace(
            shown=cells.shares.shown.copy() if rules.of_shares else NO_SHOWN
        ),
        first=name.copy(),
        last=name.copy(),
        name_at=name.copy(),
        width=cells.widths.copy(),
        mass=np.zeros(intervals),
        kept_mass=np.zeros(intervals),
        head=np.full((2, intervals), -1),
        tail=np.full((2, intervals), -1),
        length=np.zeros(intervals, dtype=np.int64),
        after=np.full((attributes, count), -1, dtype=np.int32),
        charge=details.charge,
        value=details.value[order].astype(np.int32),
        detail=np.stack([details.n[order], np.zeros(len(details))], axis=1),
        begins=np.full((len(details.charge), sampled), -1, dtype=np.int32),
        following=np.full(len(details), -1, dtype=np.int32),
        sums=np.zeros(5),
        table=np.full(2 << bits if bits else combinations, -1),
        state=np.array([bits, count]),
        moved=np.empty(count, dtype=np.int64),
    )
    _list_details(made, details.cell[order], details.attribute[order])
    _enter(made, cells.codes)
    return made


@compiled
def _list_details(at: Lattice, cell: Ints, attribute: Ints) -> None:
    """Link the details, sorted by cell, attribute and value; take what they charge from own."""
    for e in range(len(cell) - 1, -1, -1):
        c, d = cell[e], attribute[e]
        at.following[e], at.begins[d, c] = at.begins[d, c], e
        at.detail[e, 1] = n_log_n(at.detail[e, 0])
        at.cell[c, OWN] -= at.charge[d] * at.detail[e, 1]


@compiled
def _enter(at: Lattice, codes: Places) -> None:
    cell, sums = at.cell, at.sums
    for c in range(len(at.key)):
        insert(at.table, at.state[0], at.key[c], c)
        kind = np.int64(c >= at.sampled)
        for d in range(len(at.sizes)):
            i = at.start[d] + codes[c, d]
            if at.tail[kind, i] < 0:
                at.head[kind, i] = c
            else:
                at.after[d, at.tail[kind, i]] = c
            at.tail[kind, i] = c
            at.length[i] += 1
            if kind == 0:
                at.mass[i] += cell[c, N]
    for c in range(at.sampled):
        cell[c, N_LOG_N] = n_log_n(cell[c, N])
        people = group_of(cell[c, N], at.p[c])
        cell[c, MATCH] = share(at.rules, cell[c, N], people)
        sums[RISK] += cell[c, MATCH]
        sums[NATS] += cell[c, OWN] - at.rules.slope * cell[c, N_LOG_N]
        kept = is_kept(at.rules, cell[c, N], people, at.values, c, c)
        if kept and (not asks_shares(at.rules) or has_shares(at.rules, at.shares, c, c)):
            at.kept[c] = True
            sums[KEPT_RISK] += cell[c, MATCH]
            sums[KEPT_NATS] += cell[c, OWN] - at.rules.slope * cell[c, N_LOG_N]
            add_kept_mass(at, c, cell[c, N])
        else:
            sums[SUPPRESSED] += cell[c, N]


@bare
def add_kept_mass(at: Lattice, c: int, n: float) -> None:
    """Count `n` more subjects as kept in every interval of cell `c`."""
    for d in range(len(at.sizes)):
        at.kept_mass[at.start[d] + at.code[c, d]] += n


@inner
def living(at: Lattice, d: int, head: Ints, tail: Ints, i: int, out: Ints) -> Ints:
    """Return the living cells of a list of interval `i`, written to `out`; drop the dead ones.

    `head` and `tail` are the rows of `at.head` and `at.tail` of one kind of list.
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
def charged(at: Lattice, one: int, other: int, d: int) -> float:
    """Return what the details of two cells are charged more once these are one, along `d`.

    Only values that both have count: along `d` itself they have none in common.
    """
    total, detail, value = 0.0, at.detail, at.value
    if other >= at.sampled:
        return total
    for e in range(len(at.charge)):
        if e == d or at.charge[e] == 0.0:
            continue
        x, y, more = at.begins[e, one], at.begins[e, other], 0.0
        while x >= 0 and y >= 0:
            if value[x] == value[y]:
                more += n_log_n(detail[x, 0] + detail[y, 0]) - detail[x, 1] - detail[y, 1]
                x, y = at.following[x], at.following[y]
            elif value[x] < value[y]:
                x = at.following[x]
            else:
                y = at.following[y]
        total += at.charge[e] * more
    return total


@bare
def join_details(at: Lattice, stays: int, goes: int) -> None:
    """Join the lists of details of a cell that goes to those of the one that stays."""
    detail, value, following = at.detail, at.value, at.following
    for e in range(len(at.charge)):
        x, y, end = at.begins[e, stays], at.begins[e, goes], -1
        while y >= 0:
            if x >= 0 and value[x] == value[y]:
                detail[x, 0] += detail[y, 0]
                detail[x, 1] = n_log_n(detail[x, 0])
                y = following[y]
            elif x >= 0 and value[x] < value[y]:
                end, x = x, following[x]
            else:
                new, y = y, following[y]
                following[new] = x
                if end < 0:
                    at.begins[e, stays] = new
                else:
                    following[end] = new
                end = new


@bare
def plain_change(at: Lattice, one: int, other: int) -> tuple[float, float]:
    """Return the change of n / g, and of -n log n, when two cells become one.

    `one` is sampled; `other` may have people only.
    """
    cell, people = at.cell, at.p[one] + at.p[other]
    if other >= at.sampled:
        n = cell[one, N]
        return share(at.rules, n, group_of(n, people)) - cell[one, MATCH], 0.0
    n = cell[one, N] + cell[other, N]
    risk = share(at.rules, n, group_of(n, people)) - cell[one, MATCH] - cell[other, MATCH]
    return risk, cell[one, N_LOG_N] + cell[other, N_LOG_N] - n_log_n(n)


@bare
def kept_change(at: Lattice, one: int, other: int, more: float) -> tuple[float, float, float]:
    """Return the changes of n / g and nats that are kept, and the subjects no longer suppressed.

    `more` is what `charged` says of both. A cell that is kept may no longer be with one that is
    not, where shares of sensitive values are asked for: then fewer are kept.
    """
    cell, n = at.cell, at.cell[one, N]
    people, twin = at.p[one] + at.p[other], one
    if other < at.sampled:
        n += cell[other, N]
        twin = other
    people = group_of(n, people)
    both = is_kept(at.rules, n, people, at.values, one, twin)
    if both and asks_shares(at.rules):
        both = has_shares(at.rules, at.shares, one, twin)
    risk, nats, gain = 0.0, 0.0, 0.0
    if both:
        risk, nats = share(at.rules, n, people), -at.rules.slope * n_log_n(n) - more
    for c in (one, twin):
        if at.kept[c]:
            risk -= cell[c, MATCH]
            nats += at.rules.slope * cell[c, N_LOG_N]
        if both and not at.kept[c]:
            nats += cell[c, OWN]
            gain += cell[c, N]
        elif at.kept[c] and not both:
            nats -= cell[c, OWN]
            gain -= cell[c, N]
        if twin == one:
            break
    return risk, nats, gain


@bare
def keep(at: Lattice, one: int, other: int, more: float) -> None:
    """Update what is kept when two cells become one, `one` living on."""
    risk, nats, gain = kept_change(at, one, other, more)
    at.sums[KEPT_RISK] += risk
    at.sums[KEPT_NATS] += nats
    at.sums[SUPPRESSED] -= gain
    for c in (one, other):
        if gain != 0.0 and c < at.sampled and at.kept[c] != (gain > 0.0):
            add_kept_mass(at, c, at.cell[c, N] if gain > 0.0 else -at.cell[c, N])
            at.kept[c] = gain > 0.0
    if other < at.sampled:
        for w in range(at.values.shape[1]):
            at.values[one, w] |= at.values[other, w]
        if asks_shares(at.rules):
            shown = at.shares.shown
            for v in range(shown.shape[1]):
                shown[one, v] += shown[other, v]


@bare
def move_sampled(at: Lattice, d: int, name: int, shift: int, cells: Ints) -> None:
    """Move sampled cells to interval `name` of attribute `d`: by `shift` in key.

    Of two cells that become one, the one that was there lives on if it is sampled.
    """
    key, cell, p, table, bits = at.key, at.cell, at.p, at.table, at.state[0]
    for m in range(len(cells)):
        c = cells[m]
        remove(table, bits, key[c])
        there = lookup(table, bits, key[c] + shift)
        stays, goes = (there, c) if 0 <= there < at.sampled else (c, there)
        if goes >= 0:
            more = charged(at, stays, goes, d)
            risk, less = plain_change(at, stays, goes)
            at.sums[RISK] += risk
            at.sums[NATS] += at.rules.slope * less - more
            if at.constrained:
                keep(at, stays, goes, more)
            p[stays] += p[goes]
            if goes < at.sampled:
                cell[stays, N] += cell[goes, N]
                cell[stays, OWN] += cell[goes, OWN] - more
                cell[stays, N_LOG_N] += cell[goes, N_LOG_N] - less
                cell[stays, MATCH] += cell[goes, MATCH]
                join_details(at, stays, goes)
            cell[stays, MATCH] += risk
            key[goes] = -1
            at.state[1] -= 1
        if stays == c:
            key[c] += shift
            at.code[c, d] = name
            insert(table, bits, key[c], c)


@bare
def move_people(at: Lattice, shift: int, cells: Ints) -> None:
    """Move cells that have people only by `shift` in key; a cell that is there lives on."""
    key, cell, p, table, bits = at.key, at.cell, at.p, at.table, at.state[0]
    for m in range(len(cells)):
        c = cells[m]
        remove(table, bits, key[c])
        there = lookup(table, bits, key[c] + shift)
        if there < 0:
            key[c] += shift
            insert(table, bits, key[c], c)
            continue
        if there < at.sampled:
            risk, _ = plain_change(at, there, c)
            at.sums[RISK] += risk
            if at.constrained:
                keep(at, there, c, 0.0)
            cell[there, MATCH] += risk
        p[there] += p[c]
        key[c] = -1
        at.state[1] -= 1


@inner
def merge(at: Lattice, d: int, cut: int) -> int:
    """Merge the intervals of attribute `d` on both sides of `cut`; return the merged name.

    `cut` is the last value of the left interval.
    """
    start = at.start[d]
    i, j = start + at.name_at[start + cut], start + at.name_at[start + cut + 1]
    first, last, width = at.first[i], at.last[j], at.width[i] + at.width[j]
    stays, goes = (i, j) if at.length[i] >= at.length[j] else (j, i)
    shift = (stays - goes) * at.stride[d]
    for kind in range(2):
        cells = living(at, d, at.head[kind], at.tail[kind], goes, at.moved)
        at.length[stays] += len(cells)
        if kind == 0:
            move_sampled(at, d, stays - start, shift, cells)
        else:
            move_people(at, shift, cells)
        if at.tail[kind, stays] < 0:
            at.head[kind, stays] = at.head[kind, goes]
        elif at.head[kind, goes] >= 0:
            at.after[d, at.tail[kind, stays]] = at.head[kind, goes]
        if at.head[kind, goes] >= 0:
            at.tail[kind, stays] = at.tail[kind, goes]
    at.mass[stays] += at.mass[goes]
    at.kept_mass[stays] += at.kept_mass[goes]
    at.first[stays], at.last[stays], at.width[stays] = first, last, width
    at.name_at[start + first] = stays - start
    at.name_at[start + last] = stays - start
    if at.state[0] > 4 and at.state[1] * 8 < 1 << at.state[0]:
        shrink(at)
    return int(stays - start)


@bare
def shrink(at: Lattice) -> None:
    """Use the front of the table only, so that what is looked up stays in the cache."""
    at.table[: 2 << at.state[0]] = -1
    while at.state[1] * 4 < 1 << at.state[0] and at.state[0] > 4:
        at.state[0] -= 1
    for c in range(len(at.key)):
        if at.key[c] >= 0:
            insert(at.table, at.state[0], at.key[c], c)


@bare
def widths_part(at: Lattice, mass: Floats) -> float:
    """Return the intervals' part of the nats lost: spread x mass x log width, summed."""
    total = 0.0
    for d in range(len(at.sizes)):
        v = 0
        while v < at.sizes[d]:
            i = at.start[d] + at.name_at[at.start[d] + v]
            total += mass[i] * at.log[at.width[i]]
            v = at.last[i] + 1
    return at.rules.spread * total


@bare
def totals(at: Lattice) -> tuple[float, float, float]:
    """Return the sum of n / g, the nats lost and the subjects suppressed, as they stand."""
    if not at.constrained:
        return at.sums[RISK], at.sums[NATS] + widths_part(at, at.mass), 0.0
    lost = at.sums[SUPPRESSED] * at.rules.wholly_lost
    nats = at.sums[KEPT_NATS] + widths_part(at, at.kept_mass) + lost
    return at.sums[KEPT_RISK], nats, at.sums[SUPPRESSED]
