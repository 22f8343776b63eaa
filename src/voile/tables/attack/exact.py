"""Represent people by exact quasi-identifiers known to the adversary, with their released group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int32]
Rows = NDArray[np.intp]
MOST_SOUGHT = 5_000
"""The largest number of groups examined for missing splits. A sample is drawn from more groups."""


@dataclass(frozen=True)
class ExactRows:
    """Rows of people with their exact values.

    Attributes
    ----------
    places : (rows, columns) int32, the position of each value in the public order of its column.
        All `ExactRows` of an attack use the same orders.
    group : (rows,) int64, the number of each row's released group, from 0. -1 if it belongs to no
        group.
    """

    places: Places
    group: NDArray[np.int64]

    @cached_property
    def _runs(self) -> tuple[Rows, Rows]:
        """The rows in the order of their groups, and the first position of each group in it."""
        order = np.argsort(self.group, kind="stable")
        groups = np.arange(self.group.max(initial=-1) + 2)
        return order, np.searchsorted(self.group[order], groups)

    def rows_of(self, group: int) -> Rows:
        """Return the row numbers of a group."""
        order, begins = self._runs
        if group + 1 >= len(begins):
            return order[:0]
        return order[begins[group] : begins[group + 1]]

    def groups_of(self, least: int, rng: np.random.Generator) -> list[int]:
        """Return the groups of at least `least` rows, or a random sample of 5,000 of them."""
        large = np.flatnonzero(np.diff(self._runs[1]) >= least)
        return sorted(rng.permutation(large)[:MOST_SOUGHT].tolist())
