"""Check the sensitive values in a node and on both sides of its split."""

from __future__ import annotations

import math

from voile.core.compiled import bare
from voile.tables.trees.kernels.inputs import (
    BoxScratch,
    Floats,
    GrowingBox,
    SamplePeople,
    SensitiveRows,
)

SLACK = 1e-9


@bare
def is_diverse(values: Floats, total: Floats, minus: bool, rules: SensitiveRows) -> bool:
    """Return whether a node with these counts meets the rules of each column.

    With `minus`, the counts are `total` minus `values`.
    """
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


@bare
def show(
    people: SamplePeople, box: GrowingBox, sensitive: SensitiveRows, scratch: BoxScratch
) -> None:
    """Count the sensitive values of a node."""
    scratch.shown[0] = 0.0
    for r in range(box.first, box.last):
        add_row(people.row[r], sensitive, scratch.shown[0])


@bare
def add_row(row: int, sensitive: SensitiveRows, shown: Floats) -> None:
    """Count the sensitive values of a row of the sample."""
    for at in range(sensitive.first[row], sensitive.first[row + 1]):
        shown[sensitive.value[at]] += sensitive.subjects[at]


@bare
def sort_rows(
    people: SamplePeople, box: GrowingBox, j: int, begin: int, scratch: BoxScratch
) -> None:
    """Sort a node's rows by column j into `order`, with no row below the split yet."""
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
    scratch.shown[1] = 0.0


@bare
def parts_are_diverse(
    people: SamplePeople,
    box: GrowingBox,
    j: int,
    rows: tuple[int, int],
    sensitive: SensitiveRows,
    scratch: BoxScratch,
) -> bool:
    """Return whether both sides meet the rules after moving rows below the split.

    The sorted rows up to rows[1] - 1 are then below the split. Rows up to rows[0] - 1 are already
    counted there.
    """
    for at in range(rows[0], rows[1]):
        add_row(people.row[scratch.order[at]], sensitive, scratch.shown[1])
    below, both = scratch.shown[1], scratch.shown[0]
    return is_diverse(below, both, False, sensitive) and is_diverse(below, both, True, sensitive)
