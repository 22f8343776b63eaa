"""Score intervals of one attribute, with a fixed partition of the other attributes.

The sum of n / g, the lost nats and the suppressed subjects are then sums over the attribute's
intervals. To score an interval, the kernel visits its values and keeps a tally for each group of
the other attributes' partition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel, inner
from voile.tables.fitting.kernels.cells import CellRules, SensitiveShares
from voile.tables.fitting.kernels.scratch import (
    LOG,
    DetailParts,
    SortedCells,
    partition,
    parts_of,
    shares_for,
)
from voile.tables.fitting.kernels.terms import (
    Row,
    asks_shares,
    group_of,
    is_released,
    n_log_n,
    share,
)

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]

N, OWN, P, RISK, NATS, MASS, DROPPED, COLUMNS = range(8)


class AttributeSlabs(NamedTuple):
    """The cells along one attribute, one for each value and group of the others' partition.

    Groups without a subject at any value are left out, since they never count.

    Attributes
    ----------
    start : the cells of value v are `start[v]` to `start[v + 1]`.
    group, n, own, p, values, shown : by cell.
    width : by value.
    log_width : by group, of the other attributes' intervals.
    parts : the parts to which details belong.
    detail_start : the details of value v are `detail_start[v]` to `detail_start[v + 1]`. Details of
        the lead attribute are already subtracted from `own`.
    part, detail_n : by detail.
    """

    start: Ints
    group: Places
    n: Floats
    own: Floats
    p: Floats
    values: NDArray[np.uint64]
    shown: Floats
    width: Ints
    log_width: Floats
    parts: DetailParts
    detail_start: Ints
    part: Places
    detail_n: Floats


class IntervalTally(NamedTuple):
    """The tally of each group in an interval.

    All arrays except `sums` are 0 between intervals.

    Attributes
    ----------
    has : (groups, columns) the tally.
    sums : the totals of all groups, from RISK on.
    present, shares : by group, the sensitive values.
    held : (parts, 2) by part, n and its charge.
    """

    has: Floats
    sums: Floats
    present: NDArray[np.uint64]
    shares: SensitiveShares
    held: Floats


@inner
def gather(cells: SortedCells, rules: CellRules, policy: Bits) -> AttributeSlabs:
    """Sum the cells by value of the lead and group of the others' partition under `policy`."""
    _, _, group, wide = partition(cells, policy)
    slabs = room_for_slabs(cells, rules, wide[:, LOG].copy(), parts_of(cells, group))
    counts, place = np.zeros(len(wide), dtype=np.bool_), np.full(len(wide), -1)
    for c in range(len(cells.n)):
        counts[group[cells.n_rest[c]]] = True
    part_place = np.full(len(cells.kind_rest), -1)
    for v in range(len(slabs.width)):
        slabs.start[v + 1] = slabs.start[v]
        add_sampled(cells, group, v, place, slabs)
        add_people(cells, group, counts, v, place, slabs)
        add_details(cells, v, part_place, slabs)
        charge_lead(cells, v, part_place, place, slabs)
    return slabs


@inner
def room_for_slabs(
    cells: SortedCells, rules: CellRules, log_width: Floats, parts: DetailParts
) -> AttributeSlabs:
    """Allocate slabs for the most cells and details.

    Sensitive values have columns only if the rules count them.
    """
    words = cells.values.shape[1] if rules.least_l > 0 else 0
    kinds = cells.shares.shown.shape[1] if asks_shares(rules) else 0
    most, details = len(cells.n) + len(cells.p), len(cells.detail_n)
    first, values = cells.sizes[: cells.lead].sum(), cells.sizes[cells.lead]
    return AttributeSlabs(
        np.zeros(values + 1, dtype=np.int64),
        np.empty(most, dtype=np.uint32),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty((most, words), dtype=np.uint64),
        np.empty((most, kinds)),
        cells.widths[first : first + values],
        log_width,
        parts,
        np.zeros(values + 1, dtype=np.int64),
        np.empty(details, dtype=np.uint32),
        np.empty(details),
    )


@bare
def cell_of(slabs: AttributeSlabs, v: int, g: int, place: Ints) -> int:
    """Return the position of the cell of value `v` and group `g`, and create it if needed.

    `v` must be the last value that has any cell.
    """
    at = place[g]
    if at < slabs.start[v]:
        at = slabs.start[v + 1]
        slabs.start[v + 1] += 1
        place[g], slabs.group[at] = at, g
        slabs.n[at], slabs.own[at], slabs.p[at] = 0.0, 0.0, 0.0
        slabs.values[at], slabs.shown[at] = 0, 0.0
    return int(at)


@bare
def add_sampled(
    cells: SortedCells, group: Places, v: int, place: Ints, slabs: AttributeSlabs
) -> None:
    """Add the subjects of value `v` to its slab."""
    values, shown = slabs.values, slabs.shown
    for c in range(cells.n_start[v], cells.n_start[v + 1]):
        at = cell_of(slabs, v, group[cells.n_rest[c]], place)
        slabs.n[at] += cells.n[c]
        slabs.own[at] += cells.own[c]
        for w in range(values.shape[1]):
            values[at, w] |= cells.values[c, w]
        for s in range(shown.shape[1]):
            shown[at, s] += cells.shares.shown[c, s]


@bare
def add_people(
    cells: SortedCells, group: Places, counts: Bits, v: int, place: Ints, slabs: AttributeSlabs
) -> None:
    """Add the people of value `v` to its slab, for groups with subjects."""
    for c in range(cells.p_start[v], cells.p_start[v + 1]):
        g = group[cells.p_rest[c]]
        if counts[g]:
            slabs.p[cell_of(slabs, v, g, place)] += cells.p[c]


@bare
def add_details(cells: SortedCells, v: int, place: Ints, slabs: AttributeSlabs) -> None:
    """Add the details of value `v` by part."""
    first = made = slabs.detail_start[v]
    for e in range(cells.detail_start[v], cells.detail_start[v + 1]):
        x = slabs.parts.of[cells.detail_kind[e]]
        at = place[x]
        if at < first:
            at = made
            place[x], slabs.part[at], slabs.detail_n[at] = at, x, 0.0
            made += 1
        slabs.detail_n[at] += cells.detail_n[e]
    slabs.detail_start[v + 1] = made


@bare
def charge_lead(
    cells: SortedCells, v: int, part_place: Ints, place: Ints, slabs: AttributeSlabs
) -> None:
    """Subtract the charge of the lead's details at value `v` from `own`, and drop these details."""
    parts, detail_n, kept = slabs.parts, slabs.detail_n, slabs.detail_start[v]
    for at in range(kept, slabs.detail_start[v + 1]):
        x = slabs.part[at]
        if parts.attribute[x] == cells.lead:
            slabs.own[place[parts.group[x]]] -= parts.charge[x] * n_log_n(detail_n[at])
        else:
            part_place[x], slabs.part[kept], detail_n[kept] = kept, x, detail_n[at]
            kept += 1
    slabs.detail_start[v + 1] = kept


@inner
def tally_for(cells: SortedCells, rules: CellRules, slabs: AttributeSlabs) -> IntervalTally:
    """Allocate the tallies of an interval's groups and parts."""
    groups = len(slabs.log_width)
    present = np.zeros((groups, slabs.values.shape[1]), dtype=np.uint64)
    shares, held = shares_for(cells, rules, groups), np.zeros((len(slabs.parts.group), 2))
    return IntervalTally(np.zeros((groups, COLUMNS)), np.zeros(COLUMNS), present, shares, held)


@bare
def scan(
    slabs: AttributeSlabs, rules: CellRules, tally: IntervalTally, begin: int, end: int, out: Floats
) -> None:
    """Score the intervals from value `begin` to each value up to `end`, which may be below it.

    Row v of `out` (values, 3) becomes the sums of n / g, nats and suppressed subjects of the
    interval from `begin` to v.
    """
    sums, width = tally.sums, 0
    sums[:] = 0.0
    step = 1 if begin <= end else -1
    for v in range(begin, end + step, step):
        width += slabs.width[v]
        hold_details(slabs, tally, v)
        hold_cells(slabs, rules, tally, v)
        spread = rules.spread * sums[MASS] * math.log(width)
        out[v, 0] = sums[RISK]
        out[v, 1] = sums[NATS] + spread + sums[DROPPED] * rules.wholly_lost
        out[v, 2] = sums[DROPPED]
    clear(slabs, tally, min(begin, end), max(begin, end) + 1)


@bare
def hold_details(slabs: AttributeSlabs, tally: IntervalTally, v: int) -> None:
    """Add the details of value `v` to the tally, charged to their groups."""
    has, held = tally.has, tally.held
    for e in range(slabs.detail_start[v], slabs.detail_start[v + 1]):
        x = slabs.part[e]
        held[x, 0] += slabs.detail_n[e]
        charged = slabs.parts.charge[x] * n_log_n(held[x, 0])
        has[slabs.parts.group[x], OWN] += held[x, 1] - charged
        held[x, 1] = charged


@bare
def hold_cells(slabs: AttributeSlabs, rules: CellRules, tally: IntervalTally, v: int) -> None:
    """Add the cells of value `v` to their groups, and the changes to the sums."""
    has, sums, values, shown = tally.has, tally.sums, slabs.values, slabs.shown
    present, seen = tally.present, tally.shares.shown
    risk, nats, mass, dropped = sums[RISK], sums[NATS], sums[MASS], sums[DROPPED]
    for c in range(slabs.start[v], slabs.start[v + 1]):
        g = np.int64(slabs.group[c])
        has[g, P] += slabs.p[c]
        if slabs.n[c] == 0.0 and has[g, MASS] > 0.0:  # more people keep a kept group, and its nats
            less = share(rules, has[g, MASS], group_of(has[g, MASS], has[g, P]))
            risk += less - has[g, RISK]
            has[g, RISK] = less
            continue
        has[g, N] += slabs.n[c]
        has[g, OWN] += slabs.own[c]
        for w in range(values.shape[1]):
            present[g, w] |= values[c, w]
        for s in range(shown.shape[1]):
            seen[g, s] += shown[c, s]
        if has[g, N] > 0.0:
            risk, nats = risk - has[g, RISK], nats - has[g, NATS]
            mass, dropped = mass - has[g, MASS], dropped - has[g, DROPPED]
            n, people = has[g, N], group_of(has[g, N], has[g, P])
            if is_released(rules, n, people, present, tally.shares, g, g):
                has[g, RISK], has[g, MASS], has[g, DROPPED] = share(rules, n, people), n, 0.0
                wide = n * (rules.spread * slabs.log_width[g])
                has[g, NATS] = has[g, OWN] - rules.slope * n_log_n(n) + wide
            else:
                has[g, RISK], has[g, NATS], has[g, MASS], has[g, DROPPED] = 0.0, 0.0, 0.0, n
            risk, nats = risk + has[g, RISK], nats + has[g, NATS]
            mass, dropped = mass + has[g, MASS], dropped + has[g, DROPPED]
    sums[RISK], sums[NATS], sums[MASS], sums[DROPPED] = risk, nats, mass, dropped


@bare
def clear(slabs: AttributeSlabs, tally: IntervalTally, begin: int, end: int) -> None:
    """Clear the tallies that the cells of values from `begin` to below `end` filled."""
    for e in range(slabs.detail_start[begin], slabs.detail_start[end]):
        tally.held[slabs.part[e], 0], tally.held[slabs.part[e], 1] = 0.0, 0.0
    first, after = slabs.start[begin], slabs.start[end]
    if after - first > len(tally.has):
        tally.has[:], tally.present[:], tally.shares.shown[:] = 0.0, 0, 0.0
        return
    for c in range(first, after):
        clear_group(tally, np.int64(slabs.group[c]))


@bare
def clear_group(tally: IntervalTally, g: Row) -> None:
    for k in range(COLUMNS):
        tally.has[g, k] = 0.0
    for w in range(tally.present.shape[1]):
        tally.present[g, w] = 0
    for s in range(tally.shares.shown.shape[1]):
        tally.shares.shown[g, s] = 0.0


@compile_kernel
def score_intervals(cells: SortedCells, rules: CellRules, policy: Bits, last: Ints) -> Floats:
    """Score every interval of the lead, (values, values, 3): row i, column j from i to last[i]."""
    slabs = gather(cells, rules, policy)
    tally = tally_for(cells, rules, slabs)
    values = cells.sizes[cells.lead]
    out = np.empty((values, values, 3))
    for i in range(values):
        scan(slabs, rules, tally, i, last[i], out[i])
    return out


@compile_kernel
def flips(cells: SortedCells, rules: CellRules, policy: Bits, sums: Floats) -> None:
    """Score the policies that differ from `policy` in one split point of the lead.

    The result is written to `sums`, (cuts, 3). A kept split point is merged, and a missing one
    splits its interval. Each interval is scanned from both sides, and each pair of neighbours once.
    """
    slabs = gather(cells, rules, policy)
    tally = tally_for(cells, rules, slabs)
    values = cells.sizes[cells.lead]
    lead_bit = cells.sizes[: cells.lead].sum() - cells.lead
    kept = policy[lead_bit : lead_bit + values - 1]
    left, right, both = np.empty((values, 3)), np.empty((values, 3)), np.empty((values, 3))
    total = np.zeros(3)
    begin, earlier = 0, -1
    for v in range(values):
        if v < values - 1 and not kept[v]:
            continue
        scan(slabs, rules, tally, begin, v, left)
        scan(slabs, rules, tally, v, begin, right)
        total += left[v]
        for u in range(begin, v):
            sums[u] = left[u] + right[u + 1] - left[v]
        if begin > 0:
            scan(slabs, rules, tally, earlier, v, both)
            sums[begin - 1] = both[v] - left[v] - left[begin - 1]
        begin, earlier = v + 1, begin
    sums += total
