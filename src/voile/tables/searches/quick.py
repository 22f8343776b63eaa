"""What gives the least area within some ten seconds, and always what the steepest chain finds."""

from __future__ import annotations

from voile.tables.searches import exhaustive, steepest
from voile.tables.searches.best import FULL, climb
from voile.tables.searches.ladder import Ladder
from voile.tables.searches.local import Neighbourhood
from voile.tables.searches.run import Run

CELLS = 6e11
"""Evaluations times cells that some seconds suffice for; in NumPy it is a twentieth."""
MOST = 2_000_000
IN_NUMPY = 20


def explore(run: Run) -> None:
    """Search as `best` does without its sketches, for evaluations that some seconds suffice for.

    How many depends on the table alone, so that the same seed gives the same frontier on any
    machine. Scores all policies where at most 16 cuts are free. Guarantee: as `best`, and no
    policy that `steepest` finds beats all of what is found.
    """
    if (~run.required).sum() <= FULL:
        exhaustive.explore(run)
        return
    steepest.explore(run)
    most = run.evaluations + _allowance(run)
    climb(run, Ladder(run), most)
    Neighbourhood(run).flip(most - run.evaluations)


def _allowance(run: Run) -> int:
    work = CELLS if run.evaluator.compiled else CELLS / IN_NUMPY
    return min(MOST, int(work / len(run.evaluator.cells.p)))
