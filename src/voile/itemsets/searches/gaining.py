"""Greedy by what each feature adds to a utility of the whole set (DistCnt, CM)."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.searches.run import Indices, Run
from voile.itemsets.utility import hamdist_weights

Gains = Callable[[Indices], NDArray[np.int64]]


def gain_greedily(run: Run, *, skip: bool) -> None:
    """Put in the feature that tells the most unlike pairs apart, until none does.

    Of equal gains the first feature. At a feature that may not join, `skip` goes on to the next;
    else the search ends. DistCnt is submodular: a gain only falls, so one computed earlier is an
    upper bound, and only the largest is looked at again (Minoux 1978).
    """
    run.state.reset()
    gains = _gains(run, majority=False)
    heap = [(-gain, x) for gain, x in zip(gains(run.candidates), run.candidates, strict=True)]
    heapq.heapify(heap)
    try:
        while heap and heap[0][0] < 0:
            x = heap[0][1]
            now = (-int(gains(np.array([x], dtype=np.int32))[0]), x)
            if now != heap[0]:
                heapq.heapreplace(heap, now)
                continue
            heapq.heappop(heap)
            if run.state.admits(x):
                run.state.join(x)
                gains = _gains(run, majority=False)
            elif not skip:
                break
            run.check_time()
    finally:
        run.offer(run.state.features)
    run.spend(1)


def settle_greedily(run: Run) -> None:
    """Put in the feature that brings most rows to their class's majority, until one may not join.

    Of equal gains, also of none, the feature whose HamDist is largest, then the first: two
    features often gain together what neither does alone.
    """
    run.state.reset()
    assert run.worth.labels is not None
    hamdist = hamdist_weights(run.rows, run.worth.labels)
    left = run.candidates[np.argsort(-hamdist[run.candidates], kind="stable")]
    try:
        while len(left):
            x = int(left[np.argmax(_gains(run, majority=True)(left))])
            if not run.state.admits(x):
                break
            run.state.join(x)
            left = left[left != x]
            run.check_time()
    finally:
        run.offer(run.state.features)
    run.spend(1)


def _gains(run: Run, *, majority: bool) -> Gains:
    """Return what computes gains over the set as it is now."""
    from voile.itemsets.kernels.gains import class_labels, gains

    of, groups, table = run.state.classes, run.rows.groups, run.worth.table
    sums = class_labels(of, table)
    return lambda features: gains(groups, of, table, sums, features, majority)
