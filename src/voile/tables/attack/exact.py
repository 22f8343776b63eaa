"""People whose exact quasi-identifiers the adversary knows, beside their released group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int32]


@dataclass(frozen=True)
class Exact:
    """Rows of people, by their exact values.

    places : (rows, columns) int32, a value's place in the public order of its column, the same
        for all `Exact` of an attack. group : (rows,) the released group of each, from 0; -1 in
        none.
    """

    places: Places
    group: NDArray[np.int64]
