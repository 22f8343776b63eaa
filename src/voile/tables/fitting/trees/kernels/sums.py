"""Compute the figures of a node from its numbers of subjects and people."""

from __future__ import annotations

import math

from voile.core.compiled import bare
from voile.tables.trees.kernels.inputs import CutWorth, Floats, GrowingBox


@bare
def n_log_n(n: float, table: Floats) -> float:
    """Return n log n, from the table if n is a whole number in it."""
    whole = int(n)
    if whole == n and whole < len(table):
        return float(table[whole])
    return n * math.log(n) if n > 0.0 else 0.0


@bare
def group_of(n: float, people: float) -> float:
    """Return g, the people of a node: at least its subjects, and at least one person."""
    return max(n, people, 1.0)


@bare
def weights_of(worth: CutWorth, box: GrowingBox, j: int) -> tuple[float, float]:
    """Return the weights of a nat of eq. 4 and of a nat of n log n, for a split in column j."""
    if box.figures[0] > worth.large:
        return worth.spread, worth.spread - worth.hidden[j]
    return worth.fine_spread, worth.fine_spread - worth.fine_hidden[j]


@bare
def risk_added(box: GrowingBox, left: float, below: float, least_g: float) -> float:
    """Return the change of n / g if `left` subjects and `below` people are split off.

    The result is infinite if a side has fewer people than `least_g`.
    """
    right = box.figures[0] - left
    on_left, on_right = group_of(left, below), group_of(right, box.figures[1] - below)
    if min(on_left, on_right) < least_g:
        return math.inf
    return float(left / on_left + right / on_right - box.figures[2])
