"""Greedy sets that skip refused features, built in many orders. DistCnt uses lazy gains.

Every subset of a feasible set is feasible. A set that is built past refused features is therefore
maximal.
"""

from __future__ import annotations

import numpy as np

from voile.itemsets.searches.gains import gain_greedily
from voile.itemsets.searches.run import Indices, ItemsetsSearchRun

POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_RESTARTS = 200
MOST_ONES = 2**22
MOST_TRIALS = 2**15
MOST_WORK = 2**27
NOISE = 0.3


def explore(run: ItemsetsSearchRun) -> None:
    """Build sets in several orders, from similar rows, and from parts of the best set.

    The orders are by weight / support**a, with a of 0, .25, .5, .75 and 1. Another set begins with
    the common items of k subjects with similar rows. Then the search restarts from a random part of
    the best set, with a random a and disturbed weights. With a limit, it restarts until the limit.
    Each set is feasible and maximal. There is no bound.
    """
    if run.worth.name == "distcnt":
        gain_greedily(run, skip=True)
        return
    some(run)
    while run.limited:
        restart(run)


def some(run: ItemsetsSearchRun) -> None:
    """Build as many sets as a search without a limit builds."""
    portfolio(run)
    alike(run)
    ones = int(run.rows.supports[run.candidates].sum())
    for _ in range(min(MOST_RESTARTS, MOST_ONES // ones, MOST_TRIALS // len(run.candidates))):
        restart(run)


def portfolio(run: ItemsetsSearchRun) -> None:
    """Build one set in each order by weight / support**a."""
    for power in POWERS:
        run.fill(_order(run, power, noise=0.0))


def alike(run: ItemsetsSearchRun) -> None:
    """Build a set from the common items of k subjects with similar rows.

    It is often far larger than a set from any order.
    """
    from voile.itemsets.kernels.alike import best_common

    weights = np.zeros(len(run.rows.features))
    weights[run.candidates] = run.weights[run.candidates]
    rows = run.rng.permutation(len(run.rows.own)).astype(np.int32)
    common = best_common(run.rows.groups, weights, rows, run.constraint.k, MOST_WORK)
    # Items of k subjects are frequent, hence feasible (Lemma 3). Their absences may be rare, and
    # so may their items in combination with the given features.
    tried = common if run.constraint.absences or len(run.given) else common[:0]
    _fill_from(run, common[len(tried) :], tried, _order(run, power=0.0, noise=0.0))


def restart(run: ItemsetsSearchRun) -> None:
    """Build a set from a random part of the best set.

    The part is feasible because the best set is.
    """
    kept = run.best[run.rng.random(len(run.best)) >= run.rng.random()]
    _fill_from(run, kept, kept[:0], _order(run, power=run.rng.random(), noise=NOISE))


def _fill_from(run: ItemsetsSearchRun, known: Indices, first: Indices, order: Indices) -> None:
    """Build a set from `known` feasible features, then the features of `first`, then the others."""
    begun = np.concatenate([known, first])
    run.fill(np.concatenate([first, order[~np.isin(order, begun)]]), known=known)


def _order(run: ItemsetsSearchRun, power: float, noise: float) -> Indices:
    """Return the candidates by weight / support**power, the largest first."""
    score = np.log(run.weights[run.candidates]) - power * np.log(run.rows.supports[run.candidates])
    if noise:
        score += noise * run.rng.standard_normal(len(score))
    return run.candidates[np.argsort(-score, kind="stable")]
