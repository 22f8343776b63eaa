"""Compute the figures of a box from its numbers of subjects and people."""

from __future__ import annotations

import math

from voile.core.compiled import bare
from voile.tables.trees.kernels.inputs import CutWorth, Floats, GrowingBox


@bare
def n_log_n(n: float, table: Floats) -> float:
    """Return n log n, from the table where n is a whole number in it."""
    whole = int(n)
    if whole == n and whole < len(table):
        return float(table[whole])
    return n * math.log(n) if n > 0.0 else 0.0


@bare
def group_of(n: float, people: float) -> float:
    """Return g: the people of a box, at least its subjects, and at least the one who is there."""
    return max(n, people, 1.0)


@bare
def weights_of(worth: CutWorth, box: GrowingBox, j: int) -> tuple[float, float]:
    """Return the weights of a nat of eq. 4 and of one of n log n, for a cut in column j."""
    if box.figures[0] > worth.large:
        return worth.spread, worth.spread - worth.hidden[j]
    return worth.fine_spread, worth.fine_spread - worth.fine_hidden[j]


@bare
def risk_added(box: GrowingBox, left: float, below: float, least_g: float) -> float:
    """Return the change of n / g when a part of `left` subjects and `below` people is cut off.

    Infinite where one has fewer people than `least_g`.
    """
    right = box.figures[0] - left
    on_left, on_right = group_of(left, below), group_of(right, box.figures[1] - below)
    if min(on_left, on_right) < least_g:
        return math.inf
    return float(left / on_left + right / on_right - box.figures[2])
