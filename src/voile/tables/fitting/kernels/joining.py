"""Join two cells of a lattice, and compute the change of the sums.

In a pair, `one` is sampled. `other` may have people only.
"""

from __future__ import annotations

from voile.core.compiled import bare
from voile.tables.fitting.kernels.lattice import (
    KEPT_NATS,
    KEPT_RISK,
    MATCH,
    N_LOG_N,
    NATS,
    OWN,
    RISK,
    SUPPRESSED,
    LatticeWalk,
    N,
    add_kept_mass,
)
from voile.tables.fitting.kernels.terms import asks_shares, group_of, is_released, n_log_n, share


@bare
def charge_details(at: LatticeWalk, one: int, other: int, d: int) -> float:
    """Return the additional charge of two cells' details if the cells are joined along `d`.

    Only values in both cells add to it. Along `d` itself they have no common value.
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
def plain_change(at: LatticeWalk, one: int, other: int) -> tuple[float, float]:
    """Return the change of n / g, and of -n log n, if two cells are joined."""
    cell, people = at.cell, at.p[one] + at.p[other]
    if other >= at.sampled:
        n = cell[one, N]
        return share(at.rules, n, group_of(n, people)) - cell[one, MATCH], 0.0
    n = cell[one, N] + cell[other, N]
    risk = share(at.rules, n, group_of(n, people)) - cell[one, MATCH] - cell[other, MATCH]
    return risk, cell[one, N_LOG_N] + cell[other, N_LOG_N] - n_log_n(n)


@bare
def kept_change(at: LatticeWalk, one: int, other: int, more: float) -> tuple[float, float, float]:
    """Return the changes of kept n / g and nats, and of the number of kept subjects.

    `more` is the result of `charge_details` for both cells. If the rules limit shares of sensitive
    values, joining a kept cell with a suppressed one may suppress both. Fewer subjects are then
    kept.
    """
    cell, twin = at.cell, other if other < at.sampled else one
    n = cell[one, N] + (cell[other, N] if twin == other else 0.0)
    people = group_of(n, at.p[one] + at.p[other])
    both = is_released(at.rules, n, people, at.values, at.shares, one, twin)
    risk, nats, gain = 0.0, 0.0, 0.0
    if both:
        risk, nats = share(at.rules, n, people), -at.rules.slope * n_log_n(n) - more
    for c in (one, twin):
        if at.kept[c]:
            risk -= cell[c, MATCH]
            nats += at.rules.slope * cell[c, N_LOG_N]
        if at.kept[c] != both:
            sign = 1.0 if both else -1.0
            nats += sign * cell[c, OWN]
            gain += sign * cell[c, N]
        if twin == one:
            break
    return risk, nats, gain


@bare
def join(at: LatticeWalk, stays: int, goes: int, d: int) -> None:
    """Join a sampled cell and another one along `d`, except for people and keys."""
    more = charge_details(at, stays, goes, d)
    risk, less = plain_change(at, stays, goes)
    at.sums[RISK] += risk
    at.sums[NATS] += at.rules.slope * less - more
    if at.constrained:
        join_kept(at, stays, goes, more)
    if goes < at.sampled:
        join_sums(at, stays, goes, less, more)
        join_details(at, stays, goes)
    at.cell[stays, MATCH] += risk


@bare
def join_kept(at: LatticeWalk, stays: int, goes: int, more: float) -> None:
    """Update the kept sums when two cells are joined."""
    risk, nats, gain = kept_change(at, stays, goes, more)
    at.sums[KEPT_RISK] += risk
    at.sums[KEPT_NATS] += nats
    at.sums[SUPPRESSED] -= gain
    for c in (stays, goes):
        if gain != 0.0 and c < at.sampled and at.kept[c] != (gain > 0.0):
            add_kept_mass(at, c, at.cell[c, N] if gain > 0.0 else -at.cell[c, N])
            at.kept[c] = gain > 0.0
    if goes < at.sampled:
        join_sensitive(at, stays, goes)


@bare
def join_sensitive(at: LatticeWalk, stays: int, goes: int) -> None:
    """Add the sensitive values of the removed cell, and their shares, to the remaining cell."""
    values, shown = at.values, at.shares.shown
    for w in range(values.shape[1]):
        values[stays, w] |= values[goes, w]
    if asks_shares(at.rules):
        for v in range(shown.shape[1]):
            shown[stays, v] += shown[goes, v]


@bare
def join_sums(at: LatticeWalk, stays: int, goes: int, less: float, more: float) -> None:
    """Add the sums of a removed sampled cell to the remaining cell, except the change of risk."""
    cell = at.cell
    cell[stays, N] += cell[goes, N]
    cell[stays, OWN] += cell[goes, OWN] - more
    cell[stays, N_LOG_N] += cell[goes, N_LOG_N] - less
    cell[stays, MATCH] += cell[goes, MATCH]


@bare
def join_details(at: LatticeWalk, stays: int, goes: int) -> None:
    """Merge the detail lists of the removed cell into those of the remaining cell."""
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
