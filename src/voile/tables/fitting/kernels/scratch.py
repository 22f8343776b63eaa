"""Score policies from scratch, one after another, in time linear in the cells.

The cells are sorted by one attribute, the *lead*. The values of the other attributes together are a
*rest*. Under a policy the rests form groups, which are found once. Each interval of the lead is
then summed over those groups in an array that fits the CPU cache. No grid over all attributes is
ever built.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel, inner
from voile.tables.fitting.kernels.cells import CellDetails, CellRules, LatticeCells, SensitiveShares
from voile.tables.fitting.kernels.hashing import find
from voile.tables.fitting.kernels.scorer import (
    CERTAINTY,
    DISTRIBUTION,
    FIGURES,
    LARGEST,
    LOSS,
    RISK,
    SUPPRESSED,
)
from voile.tables.fitting.kernels.terms import asks_shares, group_of, is_released, n_log_n, share

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.uint32]


LOG, PENALTY = range(2)


class SortedCells(NamedTuple):
    """The cells sorted by the lead attribute.

    `rests` (distinct rests, attributes) contains their codes, 0 in the lead's column. `n_start[v]`
    and `p_start[v]` are the positions where the cells of the lead's value v begin. `n_rest` and
    `p_rest` are the rest of each cell.

    Details are sorted likewise: `detail_start`, `detail_kind`, `detail_n`. A kind is a rest, an
    attribute and one of its source values: `kind_rest`, `kind_attribute`, `kind_value`.
    """

    lead: int
    sizes: Ints
    widths: Ints
    rests: NDArray[np.int32]
    n_start: Ints
    n_rest: Places
    n: Floats
    own: Floats
    values: NDArray[np.uint64]
    shares: SensitiveShares
    p_start: Ints
    p_rest: Places
    p: Floats
    charge: Floats
    detail_start: Ints
    detail_kind: Places
    detail_n: Floats
    kind_rest: Ints
    kind_attribute: Ints
    kind_value: Ints


def by_lead(cells: LatticeCells, lead: int | None = None) -> SortedCells:
    """Sort the cells by an attribute. None selects the one with the fewest distinct rests."""
    leads = range(len(cells.sizes)) if lead is None else [lead]
    lead, rests, which = min((_rests(cells, d) for d in leads), key=lambda found: len(found[1]))
    sampled = len(cells.n)
    value = cells.codes[:, lead]
    edges = np.arange(cells.sizes[lead] + 1)
    n_order = np.lexsort((which[:sampled], value[:sampled]))
    peopled = np.flatnonzero(cells.p > 0)
    p_order = peopled[np.lexsort((which[peopled], value[peopled]))]
    details = cells.details
    kinds, kind = _kinds(details, which)
    of_lead = value[details.cell]
    d_order = np.lexsort((kind, of_lead))
    return SortedCells(
        lead=lead,
        sizes=cells.sizes,
        widths=cells.widths,
        rests=rests,
        n_start=np.searchsorted(value[n_order], edges),
        n_rest=which[n_order],
        n=cells.n[n_order],
        own=cells.own[n_order],
        values=cells.values[n_order],
        shares=cells.shares._replace(shown=cells.shares.shown[n_order]),
        p_start=np.searchsorted(value[p_order], edges),
        p_rest=which[p_order],
        p=cells.p[p_order],
        charge=details.charge,
        detail_start=np.searchsorted(of_lead[d_order], edges),
        detail_kind=kind[d_order],
        detail_n=details.n[d_order],
        kind_rest=kinds[0],
        kind_attribute=kinds[1],
        kind_value=kinds[2],
    )


def _kinds(details: CellDetails, which: Places) -> tuple[NDArray[np.int64], Places]:
    """Return the distinct kinds (rest, attribute, value) of details, and each detail's kind."""
    shape = int(which.max()) + 1, len(details.charge), int(details.value.max(initial=0)) + 1
    keys = np.ravel_multi_index((which[details.cell], details.attribute, details.value), shape)
    kinds, kind = np.unique(keys, return_inverse=True)
    rests, attributes, values = np.unravel_index(kinds, shape)
    return np.stack([rests, attributes, values]), kind.astype(np.uint32)


def _rests(cells: LatticeCells, lead: int) -> tuple[int, NDArray[np.int32], Places]:
    codes = cells.codes.copy()
    codes[:, lead] = 0
    keys = np.ravel_multi_index(list(codes.T), tuple(cells.sizes))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return lead, codes[first], which.astype(np.uint32)


@inner
def widen(cells: SortedCells, d: int, width: int, wide: Floats) -> None:
    """Fill in the log width of an interval, and its width as a share of the domain.

    The share is (width - 1) / (values - 1), the term of the certainty penalty.
    """
    own = cells.widths[cells.sizes[:d].sum() : cells.sizes[: d + 1].sum()]
    wide[LOG], wide[PENALTY] = math.log(width), (width - 1) / max(own.sum() - 1, 1)


@inner
def intervals(policy: NDArray[np.bool_], cells: SortedCells, interval: Ints, wide: Floats) -> Ints:
    """Fill in each value's interval and each interval's widths, and return their numbers."""
    numbers = np.zeros(len(cells.sizes), dtype=np.int64)
    bit, start = 0, 0
    for d in range(len(cells.sizes)):
        current, width = 0, cells.widths[start]
        interval[start] = 0
        for v in range(1, cells.sizes[d]):
            if policy[bit]:
                widen(cells, d, width, wide[start + current])
                current, width = current + 1, 0
            width += cells.widths[start + v]
            interval[start + v] = current
            bit += 1
        widen(cells, d, width, wide[start + current])
        numbers[d] = current + 1
        start += cells.sizes[d]
    return numbers


@inner
def partition(cells: SortedCells, policy: NDArray[np.bool_]) -> tuple[Ints, Floats, Places, Floats]:
    """Return the intervals of values and the groups of rests, each with its widths.

    Returns
    -------
    interval, wide : each value's interval, and the widths of each interval.
    group, group_wide : each rest's group, and the widths of each group.
    """
    rests, values = len(cells.rests), len(cells.widths)
    interval, wide = np.empty(values, dtype=np.int64), np.empty((values, 2))
    numbers = intervals(policy, cells, interval, wide)
    bits = 2
    while 1 << bits < 2 * rests:
        bits += 1
    table = np.full(2 << bits, -1)
    group, group_wide = np.empty(rests, dtype=np.uint32), np.empty((rests, 2))
    groups = 0
    for r in range(rests):
        key, log_width, penalty, start = np.int64(0), 0.0, 0.0, 0
        for d in range(len(cells.sizes)):
            if d != cells.lead:
                code = interval[start + cells.rests[r, d]]
                key = key * numbers[d] + code
                log_width += wide[start + code, LOG]
                penalty += wide[start + code, PENALTY]
            start += cells.sizes[d]
        slot = find(table, bits, key)
        if table[2 * slot] != key:
            table[2 * slot] = key
            table[2 * slot + 1] = groups
            group_wide[groups, LOG], group_wide[groups, PENALTY] = log_width, penalty
            groups += 1
        group[r] = table[2 * slot + 1]
    return interval, wide, group, group_wide[:groups]


class DetailParts(NamedTuple):
    """The parts of the kinds of details under a policy: groups of rests, by source value.

    `of` (kinds,) is each kind's part. A part has a `group`, an `attribute` and a `charge`.
    """

    of: Places
    group: Places
    attribute: Ints
    charge: Floats


@inner
def parts_of(cells: SortedCells, group: Places) -> DetailParts:
    """Return the parts of the groups of a partition."""
    kinds, attributes = len(cells.kind_rest), len(cells.sizes)
    most = 1
    for k in range(kinds):
        most = max(most, cells.kind_value[k] + 1)
    bits = 2
    while 1 << bits < 2 * kinds:
        bits += 1
    table = np.full(2 << bits, -1)
    of, own = np.empty(kinds, dtype=np.uint32), np.empty(kinds, dtype=np.uint32)
    attribute, charge = np.empty(kinds, dtype=np.int64), np.empty(kinds)
    parts = 0
    for k in range(kinds):
        g, d = group[cells.kind_rest[k]], cells.kind_attribute[k]
        key = (np.int64(g) * attributes + d) * most + cells.kind_value[k]
        slot = find(table, bits, key)
        if table[2 * slot] != key:
            table[2 * slot], table[2 * slot + 1] = key, parts
            own[parts], attribute[parts], charge[parts] = g, d, cells.charge[d]
            parts += 1
        of[k] = table[2 * slot + 1]
    return DetailParts(of, own[:parts], attribute[:parts], charge[:parts])


class IntervalRoom(NamedTuple):
    """The tallies of the groups and parts of one interval of the lead, 0 between intervals."""

    n: Floats
    p: Floats
    own: Floats
    charged: Floats
    part: Floats
    values: NDArray[np.uint64]
    shares: SensitiveShares


@inner
def shares_for(cells: SortedCells, rules: CellRules, groups: int) -> SensitiveShares:
    """Allocate the subjects of groups by sensitive value, if the rules limit shares."""
    known = cells.shares
    shown = np.zeros((groups, known.shown.shape[1] if asks_shares(rules) else 0))
    return SensitiveShares(shown, known.start, known.whole, known.ordered)


@inner
def room_for(cells: SortedCells, rules: CellRules) -> IntervalRoom:
    """Allocate tallies for every possible group, without values that no rule counts."""
    rests, words = len(cells.rests), cells.values.shape[1] if rules.least_l > 0 else 0
    values = np.zeros((rests, words), dtype=np.uint64)
    part = np.zeros(len(cells.kind_rest))
    n, p, own, charged = np.zeros(rests), np.zeros(rests), np.zeros(rests), np.zeros(rests)
    return IntervalRoom(n, p, own, charged, part, values, shares_for(cells, rules, rests))


@bare
def charge_parts(
    cells: SortedCells, parts: DetailParts, begin: int, end: int, room: IntervalRoom
) -> None:
    """Add the charge of an interval's details to their groups."""
    details, kind, n, part = range(begin, end), cells.detail_kind, cells.detail_n, room.part
    for e in details:
        part[parts.of[kind[e]]] += n[e]
    for e in details:
        x = parts.of[kind[e]]
        if part[x] > 0:
            room.charged[parts.group[x]] += parts.charge[x] * n_log_n(part[x])
            part[x] = 0.0


@bare
def add_interval(
    cells: SortedCells,
    rules: CellRules,
    group: Places,
    parts: DetailParts,
    wide: Floats,
    own_wide: Floats,
    begin: int,
    end: int,
    room: IntervalRoom,
    sums: Floats,
) -> None:
    """Add the interval of the lead's values from `begin` to below `end`.

    `sums` (6,) are, in order: the sums of n / g, of lost nats and of suppressed subjects, and the
    largest 1 / g. Then come the sum of the nats of eq. 4 (with a spread of 1), and of n times the
    widths' penalties.
    """
    n, p, own, charged, _, values, shares = room
    shown, cell_shown = shares.shown, cells.shares.shown
    sampled = range(cells.n_start[begin], cells.n_start[end])
    peopled = range(cells.p_start[begin], cells.p_start[end])
    for c in sampled:
        g = group[cells.n_rest[c]]
        n[g] += cells.n[c]
        own[g] += cells.own[c]
        for w in range(values.shape[1]):
            values[g, w] |= cells.values[c, w]
        for v in range(shown.shape[1]):
            shown[g, v] += cell_shown[c, v]
    for c in peopled:
        p[group[cells.p_rest[c]]] += cells.p[c]
    charge_parts(cells, parts, cells.detail_start[begin], cells.detail_start[end], room)
    for c in sampled:
        g = group[cells.n_rest[c]]
        if n[g] > 0:
            people = group_of(n[g], p[g])
            if is_released(rules, n[g], people, values, shares, np.int64(g), np.int64(g)):
                sums[RISK] += share(rules, n[g], people)
                f, spread = n_log_n(n[g]), n[g] * (own_wide[LOG] + wide[g, LOG])
                sums[LOSS] += own[g] - charged[g] - rules.slope * f + rules.spread * spread
                sums[DISTRIBUTION] += own[g] - f + spread
                sums[CERTAINTY] += n[g] * (own_wide[PENALTY] + wide[g, PENALTY])
                sums[LARGEST] = max(sums[LARGEST], 1 / people)
            else:
                sums[LOSS] += n[g] * rules.wholly_lost
                sums[SUPPRESSED] += n[g]
            n[g], own[g], charged[g] = 0.0, 0.0, 0.0
            for w in range(values.shape[1]):
                values[g, w] = 0
            for v in range(shown.shape[1]):
                shown[g, v] = 0.0
    if len(peopled) < len(wide):
        for c in peopled:
            p[group[cells.p_rest[c]]] = 0.0
    else:
        p[: len(wide)] = 0.0


@compile_kernel
def score(cells: SortedCells, rules: CellRules, policies: NDArray[np.bool_]) -> Floats:
    """Return the sums of `add_interval` for each policy, (policies, 6)."""
    sums, room = np.zeros((len(policies), FIGURES)), room_for(cells, rules)
    lead_start = cells.sizes[: cells.lead].sum()
    last = cells.sizes[cells.lead] - 1
    for i in range(len(policies)):
        interval, wide, group, group_wide = partition(cells, policies[i])
        parts = parts_of(cells, group)
        begin = 0
        for v in range(last + 1):
            if v == last or policies[i, lead_start - cells.lead + v]:
                own_wide = wide[lead_start + interval[lead_start + v]]
                add_interval(
                    cells, rules, group, parts, group_wide, own_wide, begin, v + 1, room, sums[i]
                )
                begin = v + 1
    return sums


@compile_kernel
def score_alike(cells: SortedCells, rules: CellRules, policies: NDArray[np.bool_]) -> Floats:
    """Score policies that differ only in the lead, and sum a shared interval once.

    The result is that of `score`, except for rounding.
    """
    sums, room = np.zeros((len(policies), FIGURES)), room_for(cells, rules)
    _, _, group, group_wide = partition(cells, policies[0])
    parts = parts_of(cells, group)
    lead_start = cells.sizes[: cells.lead].sum()
    last = cells.sizes[cells.lead] - 1
    known, ends = np.zeros((last + 1, FIGURES)), np.zeros(last + 1, dtype=np.int64)
    own_wide = np.empty(2)
    for i in range(len(policies)):
        begin, width = 0, 0
        for v in range(last + 1):
            width += cells.widths[lead_start + v]
            if v == last or policies[i, lead_start - cells.lead + v]:
                part = known[begin]
                if ends[begin] != v + 1:
                    part[:], ends[begin] = 0.0, v + 1
                    widen(cells, cells.lead, width, own_wide)
                    add_interval(
                        cells, rules, group, parts, group_wide, own_wide, begin, v + 1, room, part
                    )
                largest = max(sums[i, LARGEST], part[LARGEST])
                sums[i] += part
                sums[i, LARGEST] = largest
                begin, width = v + 1, 0
    return sums
