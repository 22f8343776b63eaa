"""Repeatedly pick the feature with the largest gain, and recompute few gains."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.measures.feasibility import FeasibleSet

Counts = NDArray[np.int64]
Indices = NDArray[np.int32]
Ranked = list[tuple[float, int, int]]

FIRST = 16
BLOCK = 256
DIGITS = 9
"""The number of significant digits of a gain, so that equal gains tie despite rounding."""


class ClassSums:
    """The rows of each label in each class of a set, updated as features join."""

    def __init__(self, state: FeasibleSet, table: Counts) -> None:
        """Start with a set. `table` : (patterns, classes) rows of each label."""
        self._state, self._table = state, table
        self._known = 0
        self._of = np.zeros(len(table), dtype=np.int32)
        self._sums = np.zeros_like(table)
        self._sums[0] = table.sum(axis=0)

    def __call__(self) -> Counts:
        """Return the sums by class.

        Cost: O(patterns with a feature that joined since the last call).
        """
        from voile.itemsets.kernels.gains import move

        groups, classes, _ = self._state.parts
        new = self._state.features[self._known :]
        move(groups, classes.of, self._table, new, self._of, self._sums)
        self._known += len(new)
        return self._sums[: classes.sizes[0]]


def pick(
    left: Indices,
    gains: Callable[[Indices], NDArray[np.float64] | Counts],
    join: Callable[[Indices], int],
    *,
    least: float = 0,
    anew: bool = False,
    stop: bool = False,
) -> Indices:
    """Repeatedly add the feature with the largest gain, as long as that exceeds `least`.

    Among equal gains, the first feature is added. `gains` returns the current gain of each feature.
    `join` tries features in order, adds the first that may join, and returns the number it refused.
    A refused feature is never tried again. With `stop`, the first refusal ends the search.

    An earlier gain is used as an upper bound, and only the largest are recomputed (Minoux 1978).
    With `anew`, all are recomputed. Returns the features that were never tried.
    """

    def ranked(places: list[int], joined: int) -> Ranked:
        found = np.round(gains(left[places]), DIGITS)
        order = np.lexsort((np.array(places, dtype=np.int64), -found))
        return [(-found[x], places[x], joined) for x in order]

    heap, joined, few, block = ranked(list(range(len(left))), 0), 0, FIRST, 1
    while heap:
        if heap[0][2] < joined:
            stale = [heappop(heap)[1] for _ in range(min(len(heap) if anew else few, len(heap)))]
            for one in ranked(stale, joined):
                heappush(heap, one)
            few *= 2
            continue
        known = _pop_known(heap, joined, least, 1 if stop else block)
        refused = join(left[[place for _, place, _ in known]]) if known else 0
        for one in known[refused + 1 :]:
            heappush(heap, one)
        if refused < len(known):
            joined, few, block = joined + 1, FIRST, 1
        elif stop or not known:
            break
        else:
            block = min(2 * block, BLOCK)
    return left[sorted(place for _, place, _ in heap)]


def _pop_known(heap: Ranked, joined: int, least: float, most: int) -> Ranked:
    """Pop the largest gains that are current and exceed `least`, at most `most` of them."""
    known: Ranked = []
    while heap and len(known) < most and heap[0][2] == joined and -heap[0][0] > least:
        known.append(heappop(heap))
    return known
