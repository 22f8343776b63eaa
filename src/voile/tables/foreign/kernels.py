"""Loops over boxes and combinations that stop at the first column which rules a pair out."""

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
    """Sum the people of the combinations that fit each box, (b,).

    The bits of column j's cell c begin at starts[j] + c widths[j]; a value below 0 fits every cell.
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
    """Return, for each combination, the least sum over columns of how far a box's cells are."""
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
