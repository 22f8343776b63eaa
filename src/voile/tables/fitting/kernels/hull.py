"""Find the lower convex hull of a staircase: the best points for some weight of risk and loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compile_kernel
def lower_hull(risk: Floats, loss: Floats) -> Ints:
    """Return the indices of the hull's corners (Andrew's monotone chain).

    The risk must be strictly increasing.

    >>> lower_hull(np.array([0.0, 0.2, 0.5, 1.0]), np.array([1.0, 0.9, 0.1, 0.0])).tolist()
    [0, 2, 3]
    """
    corners = np.empty(len(risk), dtype=np.int64)
    made = 0
    for i in range(len(risk)):
        while made > 1:
            one, two = corners[made - 2], corners[made - 1]
            down = (loss[two] - loss[one]) * (risk[i] - risk[two])
            if down < (loss[i] - loss[two]) * (risk[two] - risk[one]):
                break
            made -= 1
        corners[made] = i
        made += 1
    return corners[:made]
