"""Find the group of each cell under a policy."""

from __future__ import annotations

import numpy as np

from voile.core.compiled import compile_kernel
from voile.tables.fitting.kernels.hashing import find
from voile.tables.fitting.kernels.lattice import Ints, Places


@compile_kernel
def groups_of(codes: Places, sampled: int, start: Ints, scaled: Ints) -> tuple[Ints, Ints]:
    """Number the groups that each policy makes of the sampled cells.

    `scaled` (policies, all values) is the term of each value in a cell's key. The values of
    attribute d begin at `start[d]`.

    Returns
    -------
    place : (policies, cells) the group of each cell. -1 for a cell of people in no group with
        subjects.
    first : (groups,) the position of each group's first cell in the flattened array.
    """
    policies, (cells, attributes) = len(scaled), codes.shape
    place = np.empty((policies, cells), dtype=np.int64)
    first = np.empty(policies * sampled, dtype=np.int64)
    bits = 2
    while 1 << bits < 2 * sampled:
        bits += 1
    table = np.empty(2 << bits, dtype=np.int64)
    made = 0
    for i in range(policies):
        table[:] = -1
        for c in range(cells):
            key = np.int64(0)
            for d in range(attributes):
                key += scaled[i, start[d] + codes[c, d]]
            slot = find(table, bits, key)
            if table[2 * slot] != key and c < sampled:
                table[2 * slot], table[2 * slot + 1] = key, made
                first[made] = i * cells + c
                made += 1
            place[i, c] = table[2 * slot + 1] if table[2 * slot] == key else -1
    return place, first[:made]
