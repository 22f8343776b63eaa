"""Greedy sets that skip refused features, from many orders; for DistCnt, by lazy gains.

Feasible sets are closed downwards, so a set built by going on after each failure is maximal.
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
    """Build a set from each order by weight / support**a, from alike rows, from parts of the best.

    Without a limit, a is 0, .25, .5, .75 and 1. Sets also begin with the common items of k
    subjects with similar rows. Then the search restarts from the best set. A restart takes a random
    part of the best set, a random a and disturbed weights. Each set is feasible and maximal; no
    bound.
    """
    if run.worth.name == "distcnt":
        gain_greedily(run, skip=True)
        return
    some(run)
    while run.limited:
        restart(run)


def some(run: ItemsetsSearchRun) -> None:
    """Build as many sets as a search without a limit."""
    portfolio(run)
    alike(run)
    ones = int(run.rows.supports[run.candidates].sum())
    for _ in range(min(MOST_RESTARTS, MOST_ONES // ones, MOST_TRIALS // len(run.candidates))):
        restart(run)


def portfolio(run: ItemsetsSearchRun) -> None:
    """Build a set from each order by weight / support**a."""
    for power in POWERS:
        run.fill(_order(run, power, noise=0.0))


def alike(run: ItemsetsSearchRun) -> None:
    """Build a set from what k alike rows have in common, often far more than any order finds."""
    from voile.itemsets.kernels.alike import best_common

    weights = np.zeros(len(run.rows.features))
    weights[run.candidates] = run.weights[run.candidates]
    rows = run.rng.permutation(len(run.rows.own)).astype(np.int32)
    common = best_common(run.rows.groups, weights, rows, run.constraint.k, MOST_WORK)
    # What k subjects have is frequent, hence feasible (Lemma 3); what they lack may be rare, and
    # so may what they have be beside the features given.
    tried = common if run.constraint.absences or len(run.given) else common[:0]
    _fill_from(run, common[len(tried) :], tried, _order(run, power=0.0, noise=0.0))


def restart(run: ItemsetsSearchRun) -> None:
    """Build a set from a part of the best one, which is feasible as the best is."""
    kept = run.best[run.rng.random(len(run.best)) >= run.rng.random()]
    _fill_from(run, kept, kept[:0], _order(run, power=run.rng.random(), noise=NOISE))


def _fill_from(run: ItemsetsSearchRun, known: Indices, first: Indices, order: Indices) -> None:
    """Build a set from features known to be feasible, then those to try first, then the others."""
    begun = np.concatenate([known, first])
    run.fill(np.concatenate([first, order[~np.isin(order, begun)]]), known=known)


def _order(run: ItemsetsSearchRun, power: float, noise: float) -> Indices:
    """Return the candidates by weight / support**power, the largest first."""
    score = np.log(run.weights[run.candidates]) - power * np.log(run.rows.supports[run.candidates])
    if noise:
        score += noise * run.rng.standard_normal(len(score))
    return run.candidates[np.argsort(-score, kind="stable")]
