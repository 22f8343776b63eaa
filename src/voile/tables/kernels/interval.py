"""Score intervals of one attribute, the other attributes' partition fixed.

Then the sum of n / g, the nats lost and the subjects suppressed are sums over the attribute's
intervals. An interval is scored by going through its values and keeping, for each group that the
others' partition makes, what the group has so far.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compiled, inner
from voile.tables.kernels.cells import Rules, Shares
from voile.tables.kernels.scratch import LOG, Parts, Sorted, partition, parts_of, shares_for
from voile.tables.kernels.terms import asks_shares, group_of, has_shares, is_kept, n_log_n, share

Bits = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]

N, OWN, P, RISK, NATS, MASS, DROPPED, COLUMNS = range(8)


class Slabs(NamedTuple):
    """The cells along one attribute, one for each value and group of the others' partition.

    Those of value v are `start[v]` to `start[v + 1]`: `group`, `n`, `own`, `p`, `values`, `shown`
    by cell. `width` by value; `log_width` by group, of the others' intervals. Groups that have no
    subject at any value are left out: they never count. The details of value v are
    `detail_start[v]` to `detail_start[v + 1]`, those of the lead itself already taken from `own`:
    `part`, `detail_n`.
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
    parts: Parts
    detail_start: Ints
    part: Places
    detail_n: Floats


@inner
def gather(cells: Sorted, rules: Rules, policy: Bits) -> Slabs:
    """Sum the cells by value of the lead and group of the others' partition under `policy`."""
    words = cells.values.shape[1] if rules.least_l > 0 else 0
    kinds = cells.shares.shown.shape[1] if asks_shares(rules) else 0
    _, _, group, group_wide = partition(cells, policy)
    groups, group_log_width = len(group_wide), group_wide[:, LOG].copy()
    n_start, n_rest, p_start, p_rest = cells.n_start, cells.n_rest, cells.p_start, cells.p_rest
    cell_n, cell_own, cell_p, cell_values = cells.n, cells.own, cells.p, cells.values
    cell_shown = cells.shares.shown
    counts = np.zeros(groups, dtype=np.bool_)
    for c in range(len(cell_n)):
        counts[group[n_rest[c]]] = True
    values, most = cells.sizes[cells.lead], len(cell_n) + len(cell_p)
    lead_start = cells.sizes[: cells.lead].sum()
    start = np.zeros(values + 1, dtype=np.int64)
    place = np.full(groups, -1)
    of = np.empty(most, dtype=np.uint32)
    n, own, p = np.empty(most), np.empty(most), np.empty(most)
    present, shown = np.empty((most, words), dtype=np.uint64), np.empty((most, kinds))
    parts, detail_start = parts_of(cells, group), np.zeros(values + 1, dtype=np.int64)
    details, at_part = len(cells.detail_n), np.full(len(cells.kind_rest), -1)
    part, detail_n = np.empty(details, dtype=np.uint32), np.empty(details)
    made, detailed = 0, 0
    for v in range(values):
        start[v], detail_start[v] = made, detailed
        sampled = n_start[v + 1] - n_start[v]
        for k in range(sampled + p_start[v + 1] - p_start[v]):
            c = n_start[v] + k if k < sampled else p_start[v] + k - sampled
            g = group[n_rest[c]] if k < sampled else group[p_rest[c]]
            if not counts[g]:
                continue
            at = place[g]
            if at < start[v]:
                at = made
                place[g], of[at] = at, g
                n[at], own[at], p[at] = 0.0, 0.0, 0.0
                for w in range(words):
                    present[at, w] = 0
                for s in range(kinds):
                    shown[at, s] = 0.0
                made += 1
            if k >= sampled:
                p[at] += cell_p[c]
                continue
            n[at] += cell_n[c]
            own[at] += cell_own[c]
            for w in range(words):
                present[at, w] |= cell_values[c, w]
            for s in range(kinds):
                shown[at, s] += cell_shown[c, s]
        first = detailed
        for e in range(cells.detail_start[v], cells.detail_start[v + 1]):
            x = parts.of[cells.detail_kind[e]]
            at = at_part[x]
            if at < first:
                at = detailed
                at_part[x], part[at], detail_n[at] = at, x, 0.0
                detailed += 1
            detail_n[at] += cells.detail_n[e]
        last, detailed = detailed, first
        for at in range(first, last):
            x = part[at]
            if parts.attribute[x] == cells.lead:
                own[place[parts.group[x]]] -= parts.charge[x] * n_log_n(detail_n[at])
                continue
            at_part[x], part[detailed], detail_n[detailed] = detailed, x, detail_n[at]
            detailed += 1
    start[values], detail_start[values] = made, detailed
    width = cells.widths[lead_start : lead_start + values]
    return Slabs(
        start,
        of[:made],
        n,
        own,
        p,
        present,
        shown,
        width,
        group_log_width,
        parts,
        detail_start,
        part[:detailed],
        detail_n,
    )


@inner
def tally(
    cells: Sorted, rules: Rules, slabs: Slabs
) -> tuple[Floats, NDArray[np.uint64], Shares, Floats]:
    """Return room for what each group has so far, its values, shares, and n and charge by part."""
    groups = len(slabs.log_width)
    present = np.zeros((groups, slabs.values.shape[1]), dtype=np.uint64)
    seen, held = shares_for(cells, rules, groups), np.zeros((len(slabs.parts.group), 2))
    return np.zeros((groups, COLUMNS)), present, seen, held


@bare
def scan(
    slabs: Slabs,
    rules: Rules,
    has: Floats,
    present: NDArray[np.uint64],
    shares: Shares,
    held: Floats,
    begin: int,
    end: int,
    out: Floats,
) -> None:
    """Score the intervals from value `begin` to each value up to `end`, which may be below it.

    Row v of `out` (values, 3) becomes the sums of n / g, nats and subjects suppressed of the
    interval from `begin` to v. `has`, `present`, `shares.shown` and `held` are
    empty before and after.
    """
    start, group, n, own, p = slabs.start, slabs.group, slabs.n, slabs.own, slabs.p
    values, shown, log_width = slabs.values, slabs.shown, slabs.log_width
    seen, asked = shares.shown, asks_shares(rules)
    risk, nats, mass, dropped, width = 0.0, 0.0, 0.0, 0.0, 0
    step = 1 if begin <= end else -1
    for v in range(begin, end + step, step):
        width += slabs.width[v]
        for e in range(slabs.detail_start[v], slabs.detail_start[v + 1]):
            x = slabs.part[e]
            held[x, 0] += slabs.detail_n[e]
            charged = slabs.parts.charge[x] * n_log_n(held[x, 0])
            has[slabs.parts.group[x], OWN] += held[x, 1] - charged
            held[x, 1] = charged
        for c in range(start[v], start[v + 1]):
            g = np.int64(group[c])
            has[g, P] += p[c]
            if n[c] == 0.0 and has[g, MASS] > 0.0:  # a kept group is kept, its nats the same
                less = share(rules, has[g, MASS], group_of(has[g, MASS], has[g, P]))
                risk += less - has[g, RISK]
                has[g, RISK] = less
                continue
            has[g, N] += n[c]
            has[g, OWN] += own[c]
            for w in range(values.shape[1]):
                present[g, w] |= values[c, w]
            for s in range(shown.shape[1]):
                seen[g, s] += shown[c, s]
            subjects = has[g, N]
            if subjects == 0.0:
                continue
            risk -= has[g, RISK]
            nats -= has[g, NATS]
            mass -= has[g, MASS]
            dropped -= has[g, DROPPED]
            people = group_of(subjects, has[g, P])
            kept = is_kept(rules, subjects, people, present, g, g)
            if kept and asked:
                kept = has_shares(rules, shares, g, g)
            if kept:
                has[g, RISK] = share(rules, subjects, people)
                wide = rules.spread * log_width[g]
                has[g, NATS] = has[g, OWN] - rules.slope * n_log_n(subjects) + subjects * wide
                has[g, MASS], has[g, DROPPED] = subjects, 0.0
            else:
                has[g, RISK], has[g, NATS], has[g, MASS] = 0.0, 0.0, 0.0
                has[g, DROPPED] = subjects
            risk += has[g, RISK]
            nats += has[g, NATS]
            mass += has[g, MASS]
            dropped += has[g, DROPPED]
        out[v, 0] = risk
        out[v, 1] = nats + rules.spread * mass * math.log(width) + dropped * rules.wholly_lost
        out[v, 2] = dropped
    for e in range(slabs.detail_start[min(begin, end)], slabs.detail_start[max(begin, end) + 1]):
        held[slabs.part[e], 0], held[slabs.part[e], 1] = 0.0, 0.0
    first, after = start[min(begin, end)], start[max(begin, end) + 1]
    if after - first > len(has):
        has[:], seen[:] = 0.0, 0.0
        present[:] = 0
    else:
        for c in range(first, after):
            for k in range(COLUMNS):
                has[group[c], k] = 0.0
            for w in range(values.shape[1]):
                present[group[c], w] = 0
            for s in range(shown.shape[1]):
                seen[group[c], s] = 0.0


@compiled
def score_intervals(cells: Sorted, rules: Rules, policy: Bits, last: Ints) -> Floats:
    """Score every interval of the lead, (values, values, 3): row i, column j from i to last[i]."""
    slabs = gather(cells, rules, policy)
    has, present, shares, held = tally(cells, rules, slabs)
    values = cells.sizes[cells.lead]
    out = np.empty((values, values, 3))
    for i in range(values):
        scan(slabs, rules, has, present, shares, held, i, last[i], out[i])
    return out


@bare
def worth(cost: Floats, i: int, j: int, price: Floats) -> float:
    """Return the three sums of an interval as one number."""
    return float(cost[i, j, 0] * price[0] + cost[i, j, 1] * price[1] + cost[i, j, 2] * price[2])


@compiled
def shortest(cost: Floats, last: Ints, price: Floats) -> tuple[Floats, Floats, Ints, Ints]:
    """Find the cheapest partition before and after each value: shortest paths both ways.

    `price` (3,) weighs the sums. Row i of the first and second result, (values + 1, 3), holds the
    sums of the best partition of the values below i and from i on. The third says where the
    last interval of the one begins, the fourth where the first of the other ends, plus 1.
    """
    values = len(last)
    below, above = np.zeros((values + 1, 3)), np.zeros((values + 1, 3))
    before, after = np.zeros(values + 1, dtype=np.int64), np.zeros(values + 1, dtype=np.int64)
    best = np.full(values + 1, np.inf)
    best[0] = 0.0
    for i in range(values):
        for j in range(i, last[i] + 1):
            way = best[i] + worth(cost, i, j, price)
            if way < best[j + 1]:
                best[j + 1], before[j + 1] = way, i
    best[:] = np.inf
    best[values] = 0.0
    for i in range(values - 1, -1, -1):
        for j in range(i, last[i] + 1):
            way = best[j + 1] + worth(cost, i, j, price)
            if way < best[i]:
                best[i], after[i] = way, j + 1
    for i in range(1, values + 1):
        below[i] = below[before[i]] + cost[before[i], i - 1]
    for i in range(values - 1, -1, -1):
        above[i] = above[after[i]] + cost[i, after[i] - 1]
    return below, above, before, after


@compiled
def through(cost: Floats, last: Ints, below: Floats, above: Floats) -> tuple[Floats, Ints]:
    """Score, for every interval, the best partition that has it: sums (m, 3), its ends (m, 2)."""
    made = 0
    for i in range(len(last)):
        made += last[i] + 1 - i
    sums, ends = np.empty((made, 3)), np.empty((made, 2), dtype=np.int64)
    made = 0
    for i in range(len(last)):
        for j in range(i, last[i] + 1):
            for k in range(3):
                sums[made, k] = below[i, k] + cost[i, j, k] + above[j + 1, k]
            ends[made, 0], ends[made, 1] = i, j
            made += 1
    return sums, ends


@compiled
def paths(before: Ints, after: Ints, ends: Ints) -> Bits:
    """Return the cuts of the best partitions that have the intervals `ends`."""
    values = len(before) - 1
    rows = np.zeros((len(ends), values - 1), dtype=np.bool_)
    for k in range(len(ends)):
        i, j = ends[k, 0], ends[k, 1] + 1
        while i > 0:
            rows[k, i - 1] = True
            i = before[i]
        while j < values:
            rows[k, j - 1] = True
            j = after[j]
    return rows


@compiled
def flips(cells: Sorted, rules: Rules, policy: Bits, sums: Floats) -> None:
    """Score the policies that differ from `policy` in one cut of the lead; fill `sums`, (cuts, 3).

    A cut that is kept is merged, one that is not splits its interval. Each interval is gone through
    from both sides, each pair of neighbours once.
    """
    slabs = gather(cells, rules, policy)
    has, present, shares, held = tally(cells, rules, slabs)
    values = cells.sizes[cells.lead]
    lead_bit = cells.sizes[: cells.lead].sum() - cells.lead
    kept = policy[lead_bit : lead_bit + values - 1]
    left, right, both = np.empty((values, 3)), np.empty((values, 3)), np.empty((values, 3))
    total = np.zeros(3)
    begin, earlier = 0, -1
    for v in range(values):
        if v < values - 1 and not kept[v]:
            continue
        scan(slabs, rules, has, present, shares, held, begin, v, left)
        scan(slabs, rules, has, present, shares, held, v, begin, right)
        total += left[v]
        for u in range(begin, v):
            sums[u] = left[u] + right[u + 1] - left[v]
        if begin > 0:
            scan(slabs, rules, has, present, shares, held, earlier, v, both)
            sums[begin - 1] = both[v] - left[v] - left[begin - 1]
        begin, earlier = v + 1, begin
    sums += total
