"""Measure l-diversity and t-closeness of a sensitive column within groups, from counts of people.

Definitions:

- distinct, entropy and recursive l-diversity: Machanavajjhala et al., TKDD 2007, 4.1 and 4.2
- t-closeness: Li, Li & Venkatasubramanian, ICDE 2007, section 4, with the earth mover's distance
  for equal distances or for values in order
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)([.][0-9]+)?")
CELLS_AT_ONCE = 1 << 22


def order_values(values: Sequence[Any]) -> list[int] | None:
    """Return the sorted order of numeric values, with nulls last.

    Returns None if some value is not a number.

    >>> order_values([10, None, 9]), order_values(["10", "007"])
    ([2, 0, 1], None)
    """
    texts = ["" if value is None else str(value) for value in values]
    if not any(texts) or not all(NUMBER.fullmatch(text) for text in texts if text):
        return None
    keys = [(float(text) if text else math.inf, text) for text in texts]
    return sorted(range(len(texts)), key=keys.__getitem__)


@dataclass(frozen=True)
class ValueCounts:
    """Counts of people by group and by sensitive value, (m,) each, sorted by `group`.

    group : the number of the group, from 0. Every group occurs.
    value : the index of the value in `values`.
    people : the number of people.
    """

    group: NDArray[np.int64]
    value: NDArray[np.int64]
    people: Floats
    values: Sequence[Any]

    def blocks(self) -> Iterator[Floats]:
        """Yield the counts of several groups at a time, as arrays (groups, values)."""
        step = max(CELLS_AT_ONCE // len(self.values), 1)
        for first in range(0, int(self.group[-1]) + 1 if len(self.group) else 0, step):
            low, high = np.searchsorted(self.group, [first, first + step])
            block = np.zeros((int(self.group[high - 1]) + 1 - first, len(self.values)))
            block[self.group[low:high] - first, self.value[low:high]] = self.people[low:high]
            yield block


def measure_sensitive(counts: ValueCounts) -> dict[str, float]:
    """Return the smallest diversity of a group, and the largest distance from overall values."""
    order = order_values(counts.values)
    everybody = np.bincount(counts.value, counts.people, len(counts.values)) / counts.people.sum()
    found = [_measure_groups(block, everybody, order) for block in counts.blocks()]
    least = ("distinct_l", "entropy_l")
    return {name: (min if name in least else max)(x[name] for x in found) for name in found[0]}


def _measure_groups(
    counted: Floats, everybody: Floats, order: Sequence[int] | None
) -> dict[str, float]:
    shares = counted / counted.sum(axis=1, keepdims=True)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    falling = -np.sort(-counted, axis=1)
    rest = falling[:, 1:].sum(axis=1)
    odds = np.divide(falling[:, 0], rest, out=np.full(len(rest), math.inf), where=rest > 0)
    found = {
        "distinct_l": float((counted > 0).sum(axis=1).min()),
        "entropy_l": math.exp(float((-(shares * logs).sum(axis=1)).min())),
        "recursive_c": float(odds.max()),
        "t_closeness": float(np.abs(shares - everybody).sum(axis=1).max() / 2),
    }
    if order is not None:
        moved = np.cumsum((shares - everybody)[:, list(order)], axis=1)
        far = np.abs(moved).sum(axis=1).max() / max(counted.shape[1] - 1, 1)
        found["t_closeness_ordered"] = float(far)
    return found
