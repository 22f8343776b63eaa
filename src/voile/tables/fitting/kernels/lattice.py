"""Represent the generalised cells of one policy, and the effect of merging two intervals.

A hash table finds cells by their coordinates. The cells of each interval (its *slab*) form a linked
list. Sampled cells are in a different list from cells with people only. A merge moves the smaller
slab, so all merges of a chain move O(cells log cells) cells for each attribute.

An interval is identified by one of its values (its *name*). Arrays over intervals are indexed by
`start[d] + name`. A pair of neighbours is identified by the split point between them, a bit of the
policy.

Two sums are kept in parallel: *plain*, without suppression, and *kept*, under the rules. The lost
nats are the sum of three parts:

- the part of cells: own - slope n log n,
- the part of intervals: spread x mass x log width,
- the charge of suppressed subjects.

The charge of a cell's details is subtracted from its own part. The details are lists in order of
value, one for each cell and attribute. They are merged as cells are joined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.tables.fitting.kernels.cells import CellRules, LatticeCells, SensitiveShares
from voile.tables.fitting.kernels.hashing import insert
from voile.tables.fitting.kernels.terms import group_of, is_released, n_log_n, share

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.int32]

RISK, NATS, KEPT_RISK, KEPT_NATS, SUPPRESSED = range(5)
DIRECT = 8
NO_SHOWN = np.zeros((0, 0))
N, OWN, N_LOG_N, MATCH = range(4)


class LatticeWalk(NamedTuple):
    """The mutable state of a walk. All fields are arrays, so that a copy starts another walk.

    By cell:

    - `key`, -1 once the cell is merged into another one, and `p`, the people.
    - Only for the first `sampled` cells, which have subjects: `code` (sampled, attributes), the
      names of their intervals, and `cell`, their n, own, n log n and n / g.
    - For these also `kept`, and `values` and `shares` as in `LatticeCells`.

    By interval:

    - `first` and `last` value, `width`, `mass` of subjects and `kept_mass`.
    - `head` and `tail` of its two lists, (2, intervals): 0 sampled, 1 people only. `after`
      (attributes, cells) links them.
    - `length`, the number of cells ever inserted.
    - `name_at[start[d] + v]`, the interval that begins or ends at value v.

    By detail: `value`, `n` and `n_log_n` (in `detail`), and the `following` detail of its cell's
    list. `begins` (attributes, sampled) is the start of a list, or -1 if it is empty. `charge` is
    by attribute, and empty if nothing is charged.

    `sums` are five totals of the cells' part only. `table` maps keys to cells. `state` contains the
    table's bits and the number of living cells. `moved` is a work array.
    """

    rules: CellRules
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
    shares: SensitiveShares
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

    def copy(self) -> LatticeWalk:
        copied = LatticeWalk._make(x.copy() if isinstance(x, np.ndarray) else x for x in self)
        return copied._replace(shares=self.shares._replace(shown=self.shares.shown.copy()))


def lattice(cells: LatticeCells, rules: CellRules) -> LatticeWalk:
    """Return the state at the bottom: every cell separate."""
    count, attributes = cells.codes.shape
    sampled, intervals = len(cells.n), len(cells.widths)
    cell = np.zeros((sampled, 4))
    cell[:, N], cell[:, OWN] = cells.n, cells.own
    name = np.concatenate([np.arange(size) for size in cells.sizes])
    combinations = int(np.prod(cells.sizes))
    bits = 0 if combinations <= DIRECT * count else max(4, count.bit_length() + 1)
    details = cells.details
    order = np.lexsort((details.value, details.attribute, details.cell))
    made = LatticeWalk(
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


@compile_kernel
def _list_details(at: LatticeWalk, cell: Ints, attribute: Ints) -> None:
    """Link the details, sorted by cell, attribute and value, and subtract their charge from own."""
    for e in range(len(cell) - 1, -1, -1):
        c, d = cell[e], attribute[e]
        at.following[e], at.begins[d, c] = at.begins[d, c], e
        at.detail[e, 1] = n_log_n(at.detail[e, 0])
        at.cell[c, OWN] -= at.charge[d] * at.detail[e, 1]


@compile_kernel
def _enter(at: LatticeWalk, codes: Places) -> None:
    """Put every cell into the table and into the lists of its intervals, and compute the sums."""
    for c in range(len(at.key)):
        insert(at.table, at.state[0], at.key[c], c)
        for d in range(len(at.sizes)):
            _list(at, c, d, at.start[d] + codes[c, d])
    for c in range(at.sampled):
        _add_up(at, c)


@bare
def _list(at: LatticeWalk, c: int, d: int, i: int) -> None:
    """Append a cell to its list of interval `i`."""
    kind = 0 if c < at.sampled else 1
    if at.tail[kind, i] < 0:
        at.head[kind, i] = c
    else:
        at.after[d, at.tail[kind, i]] = c
    at.tail[kind, i] = c
    at.length[i] += 1
    if c < at.sampled:
        at.mass[i] += at.cell[c, N]


@bare
def _add_up(at: LatticeWalk, c: int) -> None:
    """Add a sampled cell to the sums, kept or suppressed."""
    cell, sums, n = at.cell[c], at.sums, at.cell[c, N]
    people = group_of(n, at.p[c])
    cell[N_LOG_N], cell[MATCH] = n_log_n(n), share(at.rules, n, people)
    nats = cell[OWN] - at.rules.slope * cell[N_LOG_N]
    sums[RISK] += cell[MATCH]
    sums[NATS] += nats
    at.kept[c] = is_released(at.rules, n, people, at.values, at.shares, c, c)
    if at.kept[c]:
        sums[KEPT_RISK] += cell[MATCH]
        sums[KEPT_NATS] += nats
        add_kept_mass(at, c, n)
    else:
        sums[SUPPRESSED] += n


@bare
def add_kept_mass(at: LatticeWalk, c: int, n: float) -> None:
    """Add `n` kept subjects to every interval of cell `c`."""
    for d in range(len(at.sizes)):
        at.kept_mass[at.start[d] + at.code[c, d]] += n


@bare
def widths_part(at: LatticeWalk, mass: Floats) -> float:
    """Return the intervals' part of the lost nats: spread x mass x log width, summed."""
    total = 0.0
    for d in range(len(at.sizes)):
        v = 0
        while v < at.sizes[d]:
            i = at.start[d] + at.name_at[at.start[d] + v]
            total += mass[i] * at.log[at.width[i]]
            v = at.last[i] + 1
    return at.rules.spread * total


@bare
def totals(at: LatticeWalk) -> tuple[float, float, float]:
    """Return the current sums of n / g, of lost nats and of suppressed subjects."""
    if not at.constrained:
        return at.sums[RISK], at.sums[NATS] + widths_part(at, at.mass), 0.0
    lost = at.sums[SUPPRESSED] * at.rules.wholly_lost
    nats = at.sums[KEPT_NATS] + widths_part(at, at.kept_mass) + lost
    return at.sums[KEPT_RISK], nats, at.sums[SUPPRESSED]
