"""What a box of so many subjects and people counts."""

from __future__ import annotations

import math

from voile.core.compiled import bare
from voile.tables.trees.kernels.inputs import Floats


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
