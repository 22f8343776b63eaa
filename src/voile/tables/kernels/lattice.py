"""The generalised cells of one policy, and what merging two neighbouring intervals changes.

Cells are found by their coordinates in a hash table; the cells of each interval (its *slab*)
form a linked list, sampled cells apart from those with people only. A merge moves the smaller
slab, so that all merges of a chain move O(cells log cells) cells for each attribute.

An interval is named by one of its values (its *name*); arrays over intervals are indexed by
`start[d] + name`. A pair of neighbours is named by the cut between them, a bit of the policy.

Two sums are kept side by side: *plain*, with nothing suppressed, and *kept*, under the rules.
Nats lost = the cells' own part (own - n log n) + the intervals' part (mass x log width) + what
suppressed subjects count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.tables.kernels.cells import Cells, Rules
from voile.tables.kernels.compiled import compiled, inlined
from voile.tables.kernels.hashing import find, remove
from voile.tables.kernels.terms import is_kept, n_log_n

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]

RISK, NATS, KEPT_RISK, KEPT_NATS, SUPPRESSED = range(5)


class Lattice(NamedTuple):
    """The mutable state of a walk; arrays only, so that a copy starts another walk.

    By cell: `key`, -1 once merged into another; `code` (cells, attributes), interval names;
    `n`, `p`, `own`; `n_log_n`; `match` = n / g; `kept`; `values`. The first `sampled` cells have
    subjects. By interval: `first`, `last` value; `width`; `mass` of subjects and `kept_mass`;
    `head` and `tail` of its two lists, (2, intervals): 0 sampled, 1 people only; `length`.
    `name_at[start[d] + v]` names the interval that begins or ends at value v. `after`
    (attributes, cells) links the lists. `sums` are the five totals, cells' part only.
    `table` maps keys to cells; `state` is its bits and the number of living cells.
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
    n: Floats
    p: Floats
    own: Floats
    n_log_n: Floats
    match: Floats
    kept: NDArray[np.bool_]
    values: NDArray[np.uint64]
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
    sums: Floats
    table: Ints
    state: Ints
    moved: Ints

    def copy(self) -> Lattice:
        """Return a state that can be changed on its own."""
        return Lattice(*(x.copy() if isinstance(x, np.ndarray) else x for x in self))


def lattice(cells: Cells, rules: Rules) -> Lattice:
    """Return the state at the bottom: every cell on its own."""
    count, attributes = cells.codes.shape
    sampled, intervals = len(cells.n), len(cells.widths)
    start = np.cumsum(cells.sizes) - cells.sizes
    n = np.concatenate([cells.n, np.zeros(count - sampled)])
    own = np.concatenate([cells.own, np.zeros(count - sampled)])
    words = np.zeros((count, cells.values.shape[1]), dtype=np.uint64)
    words[:sampled] = cells.values
    name = np.concatenate([np.arange(size) for size in cells.sizes])
    bits = max(4, int(count).bit_length() + 1)
    made = Lattice(
        rules=rules,
        constrained=rules.active,
        sampled=sampled,
        sizes=cells.sizes,
        start=start,
        stride=np.concatenate([np.cumprod(cells.sizes[:0:-1])[::-1], [1]]).astype(np.int64),
        log=np.log(np.maximum(np.arange(cells.widths.sum() + 1), 1)),
        key=np.ravel_multi_index(list(cells.codes.T), tuple(cells.sizes)).astype(np.int64),
        code=cells.codes.copy(),
        n=n,
        p=cells.p.copy(),
        own=own,
        n_log_n=np.zeros(count),
        match=np.zeros(count),
        kept=np.zeros(count, dtype=np.bool_),
        values=words,
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
        sums=np.zeros(5),
        table=np.full(2 << bits, -1),
        state=np.array([bits, count]),
        moved=np.empty(count, dtype=np.int64),
    )
    _enter(made)
    return made


@compiled
def _enter(at: Lattice) -> None:
    """Put every cell into the table, the lists and the sums."""
    for c in range(len(at.key)):
        insert(at, c)
        people_only = np.int64(c >= at.sampled)
        for d in range(len(at.sizes)):
            i = at.start[d] + at.code[c, d]
            append(at, d, people_only, i, c, c)
            at.length[i] += 1
            at.mass[i] += at.n[c]
        if people_only:
            continue
        at.n_log_n[c] = n_log_n(at.n[c])
        people = max(at.n[c], at.p[c])
        at.match[c] = at.n[c] / people
        at.sums[RISK] += at.match[c]
        at.sums[NATS] += at.own[c] - at.n_log_n[c]
        at.kept[c] = is_kept(at.rules, at.n[c], people, at.values, c, c)
        if at.kept[c]:
            at.sums[KEPT_RISK] += at.match[c]
            at.sums[KEPT_NATS] += at.own[c] - at.n_log_n[c]
            add_kept_mass(at, c, at.n[c])
        else:
            at.sums[SUPPRESSED] += at.n[c]


@inlined
def insert(at: Lattice, c: int) -> None:
    """Put cell `c` into the table under its key."""
    slot = find(at.table, at.state[0], at.key[c])
    at.table[2 * slot], at.table[2 * slot + 1] = at.key[c], c


@inlined
def append(at: Lattice, d: int, kind: int, i: int, head: int, tail: int) -> None:
    """Append the cells linked from `head` to `tail` to a list of interval `i`."""
    if at.tail[kind, i] < 0:
        at.head[kind, i] = head
    else:
        at.after[d, at.tail[kind, i]] = head
    at.tail[kind, i] = tail


@compiled
def add_kept_mass(at: Lattice, c: int, n: float) -> None:
    """Count `n` more subjects as kept in every interval of cell `c`."""
    for d in range(len(at.sizes)):
        at.kept_mass[at.start[d] + at.code[c, d]] += n


@inlined
def living(at: Lattice, d: int, kind: int, i: int, out: Ints, count: int) -> int:
    """Write the living cells of a list of interval `i` after `count`; drop the dead ones."""
    before, c = -1, at.head[kind, i]
    while c >= 0:
        following = np.int64(at.after[d, c])
        if at.key[c] >= 0:
            out[count] = c
            count += 1
            before = c
        elif before < 0:
            at.head[kind, i] = following
        else:
            at.after[d, before] = following
        c = following
    at.tail[kind, i] = before
    return count


@inlined
def neighbour(at: Lattice, c: int, d: int, right: bool) -> int:
    """Return the cell beside `c` along attribute `d`, or -1 where nobody is."""
    i = at.start[d] + at.code[c, d]
    v = at.last[i] + 1 if right else at.first[i] - 1
    if v < 0 or v == at.sizes[d]:
        return -1
    beside = at.name_at[at.start[d] + v]
    key = at.key[c] + (beside - at.code[c, d]) * at.stride[d]
    slot = find(at.table, at.state[0], key)
    return at.table[2 * slot + 1] if at.table[2 * slot] == key else -1


@inlined
def plain_change(at: Lattice, one: int, other: int) -> tuple[float, float]:
    """Return the change of n / g and of the cells' nats when two cells become one."""
    n = at.n[one] + at.n[other]
    people = max(n, at.p[one] + at.p[other])
    risk = n / people - at.match[one] - at.match[other]
    if at.n[one] == 0 or at.n[other] == 0:
        return risk, 0.0
    return risk, at.n_log_n[one] + at.n_log_n[other] - n_log_n(n)


@inlined
def kept_change(at: Lattice, one: int, other: int) -> tuple[float, float, float]:
    """Return the change of kept n / g and nats, and the subjects no longer suppressed."""
    n = at.n[one] + at.n[other]
    people = max(n, at.p[one] + at.p[other])
    if not is_kept(at.rules, n, people, at.values, one, other):
        return 0.0, 0.0, 0.0
    risk, nats, gain = n / people, at.own[one] + at.own[other] - n_log_n(n), 0.0
    for c in (one, other):
        if at.kept[c]:
            risk -= at.match[c]
            nats -= at.own[c] - at.n_log_n[c]
        else:
            gain += at.n[c]
    return risk, nats, gain


@inlined
def absorb(at: Lattice, one: int, other: int) -> None:
    """Make two cells one: `one` lives on with its coordinates, `other` dies."""
    risk, nats = plain_change(at, one, other)
    at.sums[RISK] += risk
    at.sums[NATS] += nats
    if at.constrained:
        risk, nats, gain = kept_change(at, one, other)
        at.sums[KEPT_RISK] += risk
        at.sums[KEPT_NATS] += nats
        at.sums[SUPPRESSED] -= gain
        people = max(at.n[one] + at.n[other], at.p[one] + at.p[other])
        now = is_kept(at.rules, at.n[one] + at.n[other], people, at.values, one, other)
        for c in (one, other):
            if now and not at.kept[c]:
                add_kept_mass(at, c, at.n[c])
                at.kept[c] = True
        for w in range(at.values.shape[1]):
            at.values[one, w] |= at.values[other, w]
    at.n[one] += at.n[other]
    at.p[one] += at.p[other]
    at.own[one] += at.own[other]
    if at.n[other] > 0:
        at.n_log_n[one] = n_log_n(at.n[one])
    at.match[one] = at.n[one] / max(at.n[one], at.p[one]) if at.n[one] > 0 else 0.0
    at.key[other] = -1
    at.state[1] -= 1


@inlined
def move(at: Lattice, c: int, d: int, name: int) -> None:
    """Move cell `c` to interval `name` of attribute `d`, into the cell that is there if any."""
    remove(at.table, at.state[0], at.key[c])
    key = at.key[c] + (name - at.code[c, d]) * at.stride[d]
    slot = find(at.table, at.state[0], key)
    there = at.table[2 * slot + 1] if at.table[2 * slot] == key else -1
    if there >= 0 and (there < at.sampled or c >= at.sampled):
        absorb(at, there, c)
        return
    if there >= 0:
        absorb(at, c, there)
    at.key[c], at.code[c, d] = key, name
    at.table[2 * slot], at.table[2 * slot + 1] = key, c


@compiled
def merge(at: Lattice, d: int, cut: int) -> int:
    """Merge the intervals of attribute `d` on both sides of `cut`; return the merged name.

    `cut` is the last value of the left interval.
    """
    left, right = at.name_at[at.start[d] + cut], at.name_at[at.start[d] + cut + 1]
    i, j = at.start[d] + left, at.start[d] + right
    first, last, width = at.first[i], at.last[j], at.width[i] + at.width[j]
    stays, goes = (i, j) if at.length[i] >= at.length[j] else (j, i)
    name = stays - at.start[d]
    count = living(at, d, 0, goes, at.moved, 0)
    count = living(at, d, 1, goes, at.moved, count)
    for m in range(count):
        move(at, at.moved[m], d, name)
    for kind in range(2):
        if at.head[kind, goes] >= 0:
            append(at, d, kind, stays, at.head[kind, goes], at.tail[kind, goes])
    at.length[stays] += count
    at.mass[stays] += at.mass[goes]
    at.kept_mass[stays] += at.kept_mass[goes]
    at.first[stays], at.last[stays], at.width[stays] = first, last, width
    at.name_at[at.start[d] + first] = name
    at.name_at[at.start[d] + last] = name
    if at.state[1] * 8 < 1 << at.state[0] and at.state[0] > 4:
        shrink(at)
    return name


@compiled
def shrink(at: Lattice) -> None:
    """Use the front of the table only, so that what is looked up stays in the cache."""
    at.table[: 2 << at.state[0]] = -1
    while at.state[1] * 4 < 1 << at.state[0] and at.state[0] > 4:
        at.state[0] -= 1
    for c in range(len(at.key)):
        if at.key[c] >= 0:
            insert(at, c)


@compiled
def widths_part(at: Lattice, mass: Floats) -> float:
    """Return the intervals' part of the nats lost: mass x log width, summed."""
    total = 0.0
    for d in range(len(at.sizes)):
        v = 0
        while v < at.sizes[d]:
            i = at.start[d] + at.name_at[at.start[d] + v]
            total += mass[i] * at.log[at.width[i]]
            v = at.last[i] + 1
    return total


@compiled
def totals(at: Lattice) -> tuple[float, float, float]:
    """Return the sum of n / g, the nats lost and the subjects suppressed, as they stand."""
    if not at.constrained:
        return at.sums[RISK], at.sums[NATS] + widths_part(at, at.mass), 0.0
    lost = at.sums[SUPPRESSED] * at.rules.wholly_lost
    nats = at.sums[KEPT_NATS] + widths_part(at, at.kept_mass) + lost
    return at.sums[KEPT_RISK], nats, at.sums[SUPPRESSED]
