"""Decide whether two features may join a set together, with containment of single rows as bits.

Two features may join together if no row has both. Otherwise, each row with both must be contained
in at least k rows, on the shared features.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import inner
from voile.itemsets.kernels.bits import NONE, Words, count, first_of, has


class RowCovers(NamedTuple):
    """The containment relation among rows at each depth of a search, as bits.

    The arrays have no features if another rule than containment applies.

    - `holders[x]` : the rows that have feature x.
    - `over[d, r]` : at depth d, the rows that contain row r.
    - `under[d, r]` : at depth d, the rows that row r contains.
    """

    holders: Words
    over: NDArray[np.uint64]
    under: NDArray[np.uint64]


@inner
def cover(covers: RowCovers, depth: int, x: int) -> None:
    """Share feature x at a depth, in addition to the features shared one depth above."""
    above, holders = depth - 1, covers.holders[x]
    for r in range(covers.over.shape[1]):
        if has(holders, r):
            for w in range(len(holders)):
                covers.over[depth, r, w] = covers.over[above, r, w] & holders[w]
                covers.under[depth, r, w] = covers.under[above, r, w]
        else:
            for w in range(len(holders)):
                covers.over[depth, r, w] = covers.over[above, r, w]
                covers.under[depth, r, w] = covers.under[above, r, w] & ~holders[w]


@inner
def together(covers: RowCovers, depth: int, x: int, z: int, k: int, left: Words) -> bool:
    """Return whether features x and z may both join the set at a depth, if each of them may.

    If at least k rows contain a row, the rows that it contains need no check. `left` is scratch.
    """
    enough, both = np.uint64(k), NONE
    for w in range(len(left)):
        left[w] = covers.holders[x, w] & covers.holders[z, w]
        both += count(left[w])
    if both < enough:
        return bool(both == NONE)
    for w in range(len(left)):
        while left[w] != NONE:
            r, found = w * 64 + first_of(left[w]), NONE
            for v in range(len(left)):
                over = covers.over[depth, r, v]
                found += count(over & covers.holders[x, v] & covers.holders[z, v])
            if found < enough:
                return False
            for v in range(w, len(left)):
                left[v] &= ~covers.under[depth, r, v]
    return True
