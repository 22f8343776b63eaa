"""Greedy search by each feature's gain in a utility of the whole set (DistCnt, CM)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.measures.utility import hamdist_weights
from voile.itemsets.searches.picking import ClassSums, pick
from voile.itemsets.searches.run import Indices, ItemsetsSearchRun


def gain_greedily(run: ItemsetsSearchRun, *, skip: bool) -> None:
    """Add the feature that distinguishes the most unlike pairs, until none does.

    At a feature that may not join, `skip` goes on to the next; else the search ends. DistCnt is
    submodular, so that no gain is larger than it was before.
    """
    run.state.reset()

    def join(features: Indices) -> int:
        run.check_time()
        return run.state.join_first(features)

    try:
        pick(run.candidates, _gains(run, majority=False), join, stop=not skip)
    finally:
        run.offer(run.state.features)
    run.spend(1)


def settle_greedily(run: ItemsetsSearchRun) -> None:
    """Add the feature that brings most rows to their class's majority, until one may not join.

    The feature of the largest HamDist wins among equal gains, even if these are 0. Two features
    often gain together although neither does alone.
    """
    run.state.reset()
    assert run.worth.labels is not None
    hamdist = hamdist_weights(run.rows, run.worth.labels)
    gains = _gains(run, majority=True)
    left = run.candidates[np.argsort(-hamdist[run.candidates], kind="stable")]
    try:
        while len(left):
            x = int(left[np.argmax(gains(left))])
            if not run.state.admits(x):
                break
            run.state.join(x)
            left = left[left != x]
            run.check_time()
    finally:
        run.offer(run.state.features)
    run.spend(1)


def _gains(run: ItemsetsSearchRun, *, majority: bool) -> Callable[[Indices], NDArray[np.int64]]:
    """Return the function of each feature's gain with the current set."""
    from voile.itemsets.kernels.gains import gains

    groups, table = run.rows.groups, run.worth.table
    sums = ClassSums(run.state, table)
    return lambda features: gains(groups, run.state.classes, table, sums(), features, majority)
