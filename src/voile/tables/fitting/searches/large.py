"""Search a table too large to walk, exactly, on the cells of a policy with the best splits only."""

from __future__ import annotations

from itertools import islice

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import VoileError
from voile.tables.fitting.scoring.evaluator import Policies, PolicyEvaluator
from voile.tables.fitting.searches import steepest
from voile.tables.fitting.searches.floors import order_cuts
from voile.tables.fitting.searches.interval import SearchAim, attributes_of, penalties, settle
from voile.tables.fitting.searches.ladder import LadderSearch
from voile.tables.fitting.searches.local import FrontierNeighbourhood
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.searches.slopes import slopes

WALKED = 16_000_000
"""The largest number of cells times squared attributes for a walk along a steepest chain."""
SETTLED = 1_000_000
"""The largest such number for improving one attribute after another for several weights."""
WEIGHTS = 8
FINER = 2
PATIENCE = 2**12


def explore(run: TablesSearchRun, *, going_on: bool = False) -> None:
    """Search the policies that have only split points of a *floor*, which has the best ones.

    The floor takes split points in the order of `order_cuts` as long as it has few enough cells to
    walk. The search walks the floor's steepest chain and scores some finer policies. On a smaller
    floor it improves one attribute after another for some weights. With `going_on`, it continues
    there up to its limit. The steps and their sizes depend only on the table.

    Guarantee: scores are exact, and some are checked on all cells. No policy is certain to be
    found. Cost: a few passes over the cells, and the work that `WALKED` and `SETTLED` allow.
    """
    evaluator = run.evaluator
    order = order_cuts(evaluator)
    walked, settled = (_count_cuts(evaluator, order, most) for most in (WALKED, SETTLED))
    with run.on_floor(_floor(evaluator, order, walked)):
        bottom = np.ones(run.n_bits, dtype=np.bool_)
        steepest.descend(run, bottom, rescue=False)
        if evaluator.rules.active:
            steepest.descend(run, bottom, rescue=True)
    for cuts in np.unique(np.linspace(walked, len(order), FINER + 2).astype(np.intp)).tolist():
        if walked < cuts < len(order):
            _score(run, _floor(evaluator, order, cuts))
    with run.on_floor(_floor(evaluator, order, settled)):
        ladder, neighbourhood = LadderSearch(run), FrontierNeighbourhood(run)
        _settle(run)
        while going_on and run.limited:
            going_on = ladder.round() | neighbourhood.flip(PATIENCE)
    if (drift := run.drift(3)) > steepest.DRIFT:
        raise VoileError(f"scores on a floor differ from those on all cells by {drift:.1e}")


def _settle(run: TablesSearchRun) -> None:
    """Improve one attribute after another for some slopes of the hull."""
    attributes, seen = attributes_of(run), set()
    for weight in islice(slopes(run), WEIGHTS):
        if weight in seen or not attributes:
            continue
        seen.add(weight)
        for penalty in penalties(run):
            settle(run, attributes, run.best_for(weight), SearchAim(weight, penalty), near=True)


def _score(run: TablesSearchRun, policy: Policies) -> None:
    """Score one policy of the whole table."""
    rows = policy[None, ~run.evaluator.forbidden]
    run.add(run.evaluator.scores(policy[None]), rows.__getitem__)


def _floor(evaluator: PolicyEvaluator, order: NDArray[np.intp], cuts: int) -> Policies:
    """Return the policy with the required split points and the first of the others."""
    floor = evaluator.required.copy()
    floor[order[:cuts]] = True
    return floor


def _count_cuts(evaluator: PolicyEvaluator, order: NDArray[np.intp], most: int) -> int:
    """Return how many split points in order give no more cells than `most` allows, by bisection."""
    room = most // len(evaluator.counts.sizes) ** 2
    if len(evaluator.cells.p) <= room:
        return len(order)
    fits, low, high = 0, 1, len(order) - 1
    while low <= high:
        middle = (low + high) // 2
        if evaluator.cells.count_under(_floor(evaluator, order, middle)) <= room:
            fits, low = middle, middle + 1
        else:
            high = middle - 1
    return fits
