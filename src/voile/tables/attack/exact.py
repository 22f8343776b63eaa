"""Hold people's exact quasi-identifiers, known to the adversary, with their released group."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int32]
Rows = NDArray[np.intp]
MOST_SOUGHT = 5_000
"""Groups in which missing cuts are looked for; of more, so many are drawn."""


@dataclass(frozen=True)
class ExactRows:
    """Rows of people, by their exact values.

    places : (rows, columns) int32, a value's place in the public order of its column, the same
        for all `ExactRows` of an attack. group : (rows,) the released group of each, from 0; -1 in
        none.
    """

    places: Places
    group: NDArray[np.int64]

    @cached_property
    def _runs(self) -> tuple[Rows, Rows]:
        """The rows in the order of their groups, and where each group's begin among them."""
        order = np.argsort(self.group, kind="stable")
        groups = np.arange(self.group.max(initial=-1) + 2)
        return order, np.searchsorted(self.group[order], groups)

    def rows_of(self, group: int) -> Rows:
        """Return the rows of a group."""
        order, begins = self._runs
        if group + 1 >= len(begins):
            return order[:0]
        return order[begins[group] : begins[group + 1]]

    def groups_of(self, least: int, rng: np.random.Generator) -> list[int]:
        """Return the groups of at least so many rows; at most 5,000, drawn at random."""
        large = np.flatnonzero(np.diff(self._runs[1]) >= least)
        return sorted(rng.permutation(large)[:MOST_SOUGHT].tolist())
