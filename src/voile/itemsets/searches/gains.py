"""Greedy search by the gain of each feature in a utility of the whole set (DistCnt, CM)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.measures.utility import hamdist_weights
from voile.itemsets.searches.picking import ClassSums, pick
from voile.itemsets.searches.run import Indices, ItemsetsSearchRun


def gain_greedily(run: ItemsetsSearchRun, *, skip: bool) -> None:
    """Repeatedly add the feature that separates most pairs of different labels.

    The search ends if no feature separates further pairs. With `skip`, a feature that may not join
    is skipped. Otherwise, it ends the search. DistCnt is submodular, so gains never increase.
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
    """Repeatedly add the feature that gives most rows the majority label of their class.

    The search ends at a feature that may not join. Among equal gains, even of 0, the feature of the
    largest HamDist is taken. Two features often have a gain together although neither has one
    alone.
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
    """Return a function that computes the gain of each feature for the current set."""
    from voile.itemsets.kernels.gains import gains

    groups, table = run.rows.groups, run.worth.table
    sums = ClassSums(run.state, table)
    return lambda features: gains(groups, run.state.classes, table, sums(), features, majority)
