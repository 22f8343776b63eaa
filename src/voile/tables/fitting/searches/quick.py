"""Find a small area within some seconds, at least as good as the steepest chain."""

from __future__ import annotations

from voile.tables.fitting.searches import exhaustive, large, steepest
from voile.tables.fitting.searches.best import FULL, climb
from voile.tables.fitting.searches.ladder import LadderSearch
from voile.tables.fitting.searches.local import FrontierNeighbourhood
from voile.tables.fitting.searches.run import TablesSearchRun

CELLS = 6e11
"""The number of evaluations times cells that takes some seconds."""
MOST = 2_000_000


def explore(run: TablesSearchRun) -> None:
    """Search as `best` does, without its sketches, for as many evaluations as take some seconds.

    The number of evaluations depends only on the table, so the frontier is the same on any machine.
    If at most 16 split points are free, all policies are scored. Only the steepest chain is walked
    if no kernel scores the measures, or if one attribute has more intervals than the evaluations.

    Guarantee: that of `best`, and no policy that `steepest` finds beats all found policies. For
    tables too large to walk, see `large`.
    """
    if (~run.required).sum() <= FULL:
        exhaustive.explore(run)
        return
    if run.evaluator.is_large:
        large.explore(run)
        return
    steepest.explore(run)
    allowed = min(MOST, int(CELLS / len(run.evaluator.cells.p)))
    if run.evaluator.is_compiled and _pairs(run) <= allowed:
        most = run.evaluations + allowed
        climb(run, LadderSearch(run), most)
        FrontierNeighbourhood(run).flip(most - run.evaluations)


def _pairs(run: TablesSearchRun) -> int:
    """Count the intervals of the largest attribute, which one shortest path evaluates."""
    return int(run.scorer.sizes.max()) ** 2 // 2
