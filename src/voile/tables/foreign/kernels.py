"""Compiled loops over leaves and combinations that stop at the first column excluding a pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel

Bits = NDArray[np.bool_]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@compile_kernel
def sum_fitting(
    bits: Bits, starts: Places, widths: Places, boxes: Codes, values: Codes, people: Floats
) -> Floats:
    """Return the number of people (b,) of the combinations that fit each leaf.

    The bits of column j's cell c begin at starts[j] + c widths[j]. A value below 0 fits every cell.
    """
    total = np.zeros(len(boxes))
    for b in range(len(boxes)):
        for i in range(len(values)):
            fit = True
            for j in range(boxes.shape[1]):
                value = values[i, j]
                if value >= 0 and not bits[starts[j] + boxes[b, j] * widths[j] + value]:
                    fit = False
                    break
            if fit:
                total[b] += people[i]
    return total


@compile_kernel
def nearest_box(
    far: NDArray[np.float32], starts: Places, widths: Places, boxes: Codes, values: Codes
) -> Floats:
    """Return each combination's distance to the nearest leaf.

    A distance is the sum over columns of the distances `far` to the leaf's cells.
    """
    found = np.empty(len(values))
    for i in range(len(values)):
        least = np.float32(np.inf)
        for b in range(len(boxes)):
            total = np.float32(0)
            for j in range(boxes.shape[1]):
                total += far[starts[j] + boxes[b, j] * widths[j] + values[i, j]]
                if total >= least:
                    break
            least = min(least, total)
        found[i] = least
    return found
