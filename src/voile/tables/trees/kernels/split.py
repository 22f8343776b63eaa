"""The best cut of a box: a sweep through each column's histogram."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import inner
from voile.tables.trees.kernels.inputs import (
    Allowed,
    Box,
    Floats,
    People,
    Scratch,
    Sensitive,
    Worth,
)

SLACK = 1e-9


@inner
def n_log_n(n: float, table: Floats) -> float:
    """Return n log n, from the table where n is a whole number in it."""
    whole = int(n)
    if whole == n and whole < len(table):
        return float(table[whole])
    return n * math.log(n) if n > 0.0 else 0.0


@inner
def group_of(n: float, people: float) -> float:
    """Return g: the people of a box, at least its subjects, and at least the one who is there."""
    return max(n, people, 1.0)


@inner
def place_in_gap(
    a: int, b: int, lo: int, hi: int, before: float, people: Floats, total: float, by_crowd: bool
) -> int:
    """Return after which value of a..b - 1 to cut, where the sample has a and b and none between.

    `people` (values,) of the column in the box, `before` those of values below a. The cut where
    the population's density changes most; of several the first; else in the middle. Neither
    looks at the sample but for where the gap is.
    """
    if b == a + 1 or not by_crowd:
        return (a + b - 1) // 2
    best, found = -math.inf, a
    left = before
    for c in range(a, b):
        left += people[c]
        right = total - left
        fit = 0.0
        if left > 0.0:
            fit += left * math.log(left / (c - lo + 1))
        if right > 0.0:
            fit += right * math.log(right / (hi - c))
        if fit > best:
            best, found = fit, c
    return found


@inner
def nearest_allowed(c: int, a: int, b: int, cuts: NDArray[np.bool_]) -> int:
    """Return the allowed cut of a..b - 1 nearest to c, the lower of two; -1 where there is none."""
    for away in range(b - a):
        if c - away >= a and cuts[c - away]:
            return c - away
        if c + away < b and cuts[c + away]:
            return c + away
    return -1


@inner
def is_diverse(values: Floats, total: Floats, minus: bool, rules: Sensitive) -> bool:
    """Whether a box of these counts, or of `total` less these, shows enough of each column."""
    for s in range(len(rules.start) - 1):
        first, last = rules.start[s], rules.start[s + 1]
        n, whole = 0.0, 0.0
        for v in range(first, last):
            n += total[v] - values[v] if minus else values[v]
            whole += rules.whole[v]
        if n <= SLACK:
            return False
        distinct, entropy, moved, carried = 0.0, 0.0, 0.0, 0.0
        for v in range(first, last):
            x = total[v] - values[v] if minus else values[v]
            share = x / n
            if x > SLACK:
                distinct += 1.0
                entropy -= share * math.log(share)
            away = share - rules.whole[v] / whole
            carried += away
            moved += abs(carried) if rules.ordered[s] else 0.5 * abs(away)
        if rules.ordered[s]:
            moved /= max(last - first - 1, 1)
        if distinct < rules.least_l[s] or entropy < rules.least_entropy[s] - SLACK:
            return False
        if moved > rules.most_t[s] + SLACK:
            return False
    return True


@inner
def best_cut(
    people: People,
    worth: Worth,
    allowed: Allowed,
    sensitive: Sensitive,
    box: Box,
    scratch: Scratch,
) -> tuple[int, int]:
    """Return the column and the value after which a cut gains most; (-1, 0) where none may be."""
    best, column, after = -math.inf, -1, 0
    looks = len(sensitive.whole) > 0
    if looks:
        scratch.shown[0] = 0.0
        for r in range(box.first, box.last):
            add_row(people.row[r], sensitive, scratch.shown[0])
    for j in range(len(box.low)):
        if box.low[j] == box.high[j]:
            continue
        if looks:
            sort_rows(people, box, j, allowed.start[j], scratch)
        gain, value = best_of_column(people, worth, allowed, sensitive, box, scratch, j, best)
        if gain > best:
            best, column, after = gain, j, value
    return column, after


@inner
def best_of_column(
    people: People,
    worth: Worth,
    allowed: Allowed,
    sensitive: Sensitive,
    box: Box,
    scratch: Scratch,
    j: int,
    best: float,
) -> tuple[float, int]:
    """Return the gain of the best cut of column j, and after which value, if it gains more.

    A gain counts risk, eq. 4 and the entropy of column j itself: that of other columns falls as
    well, by what they share with the cut, which is left out.
    """
    n, g, table = box.figures[0], box.figures[1], worth.n_log_n
    large = n > worth.large
    spread = worth.spread if large else worth.fine_spread
    logs = spread - (worth.hidden[j] if large else worth.fine_hidden[j])
    low, high = box.low[j], box.high[j]
    begin, end = allowed.start[j], allowed.start[j + 1]
    values, crowd, cuts = scratch.values[begin:end], scratch.crowd[begin:end], allowed.cuts
    whole = n * worth.log[high - low + 1] * spread - n_log_n(n, table) * logs
    left, left_crowd, counted = 0.0, 0.0, low
    row, found, a = box.first, -1, -1
    if len(sensitive.whole):
        scratch.shown[1] = 0.0
    for b in range(low, high + 1):
        if values[b] == 0.0:
            continue
        if a < 0:
            left, a = values[b], b
            continue
        right = n - left
        if min(left, right) < allowed.least_n:
            left += values[b]
            a = b
            continue
        apart = (n_log_n(left, table) + n_log_n(right, table)) * logs
        at_a = left * worth.log[a - low + 1] + right * worth.log[high - a]
        at_b = left * worth.log[b - low] + right * worth.log[high - b + 1]
        if whole - min(at_a, at_b) * spread + apart <= best:  # wherever in the gap it is cut
            left += values[b]
            a = b
            continue
        while counted < a:
            left_crowd += crowd[counted]
            counted += 1
        c = place_in_gap(a, b, low, high, left_crowd, crowd, g, allowed.by_crowd)
        if allowed.nullable[j] and b == end - begin - 1:
            c = b - 1
        c = nearest_allowed(c, a, b, cuts[begin:end])
        while counted <= c:
            left_crowd += crowd[counted]
            counted += 1
        if people.factor > 0.0:
            on_left, on_right = left * people.factor, right * people.factor
        else:
            on_left, on_right = left_crowd, g - left_crowd
        on_left, on_right = group_of(left, on_left), group_of(right, on_right)
        if c >= 0 and min(on_left, on_right) >= allowed.least_g:
            wide = left * worth.log[c - low + 1] + right * worth.log[high - c]
            risen = left / on_left + right / on_right - box.figures[2]
            gain = whole - wide * spread + apart - worth.risk * risen
            if gain > best:
                fits = True
                if len(sensitive.whole):
                    while row < box.last and people.codes[scratch.order[row], j] <= a:
                        add_row(people.row[scratch.order[row]], sensitive, scratch.shown[1])
                        row += 1
                    fits = is_diverse(scratch.shown[1], scratch.shown[0], False, sensitive)
                    fits &= is_diverse(scratch.shown[1], scratch.shown[0], True, sensitive)
                if fits:
                    best, found = gain, c
        left += values[b]
        a = b
    return (best, found) if found >= 0 else (-math.inf, -1)


@inner
def add_row(row: int, sensitive: Sensitive, shown: Floats) -> None:
    """Count the sensitive values of a row of the sample."""
    for at in range(sensitive.first[row], sensitive.first[row + 1]):
        shown[sensitive.value[at]] += sensitive.subjects[at]


@inner
def sort_rows(people: People, box: Box, j: int, begin: int, scratch: Scratch) -> None:
    """Sort a box's rows by column j, in `order`."""
    ends = scratch.ends
    ends[begin + box.low[j] : begin + box.high[j] + 1] = 0
    for r in range(box.first, box.last):
        ends[begin + people.codes[r, j]] += 1
    at = box.first
    for v in range(begin + box.low[j], begin + box.high[j] + 1):
        at, ends[v] = at + ends[v], at
    for r in range(box.first, box.last):
        v = begin + people.codes[r, j]
        scratch.order[ends[v]] = r
        ends[v] += 1
