"""Greedy by what each feature adds to a utility of the whole set (DistCnt, CM)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from voile.itemsets.measures.utility import hamdist_weights
from voile.itemsets.searches.run import Indices, Run

Gains = Callable[[Indices], NDArray[np.int64]]


FIRST = 64


def gain_greedily(run: Run, *, skip: bool) -> None:
    """Add the feature that distinguishes the most unlike pairs, until none does.

    At a feature that may not join, `skip` goes on to the next; else the search ends. DistCnt is
    submodular: a gain computed earlier is an upper bound, and only the largest are computed again
    (Minoux 1978).
    """
    run.state.reset()
    features = run.candidates
    gains = _gains(run, majority=False)
    most, known = gains(features), np.ones(len(features), dtype=np.bool_)
    try:
        while True:
            _look_again(most, known, features, gains)
            at = int(np.argmax(most))
            if most[at] <= 0:
                break
            most[at] = 0
            if run.state.admits(features[at]):
                run.state.join(features[at])
                gains = _gains(run, majority=False)
                known[:] = False
            elif not skip:
                break
            run.check_time()
    finally:
        run.offer(run.state.features)
    run.spend(1)


def _look_again(
    most: NDArray[np.int64], known: NDArray[np.bool_], features: Indices, gains: Gains
) -> None:
    """Compute gains anew, the largest bounds first, until a gain exceeds every bound left."""
    batch = FIRST
    while True:
        best = max(1, int(most[known].max(initial=0)))
        open_ = np.flatnonzero(~known & (most >= best))
        if not len(open_):
            return
        if len(open_) > batch:
            open_ = open_[np.argpartition(-most[open_], batch)[:batch]]
        most[open_], known[open_] = gains(features[open_]), True
        batch *= 2


def settle_greedily(run: Run) -> None:
    """Add the feature that brings most rows to their class's majority, until one may not join.

    Of equal gains, also of none, the feature of the largest HamDist: two often gain together what
    neither does alone.
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
    from voile.itemsets.kernels.gains import gains

    of, groups, table = run.state.classes, run.rows.groups, run.worth.table
    sums = run.state.class_sums(table)
    return lambda features: gains(groups, of, table, sums, features, majority)
