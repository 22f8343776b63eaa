"""What gives the least area: the steepest chain, shortest paths, chains from them, local search."""

from __future__ import annotations

from voile.tables.searches import exhaustive, steepest
from voile.tables.searches.interval import attributes_of, settle_all, weights
from voile.tables.searches.local import Neighbourhood
from voile.tables.searches.run import Run

WEIGHTS = 24
FULL = 16
PATIENCE = 2**19


def explore(run: Run) -> None:
    """Search for the least area that the evaluations or seconds allow.

    Scores all policies where at most 16 cuts are free. Else begins with the steepest chain;
    goes on, weight after weight, to policies that no attribute can better (as `interval`), with
    a steepest chain upwards from each; ends with the policies one cut away from the frontier's
    (as `local`), those with the widest gaps beside them first. Without a limit: 24 weights, then
    local search until nothing new enters, or 2**19 more policies are scored.

    Guarantee: the whole exact frontier where at most 16 cuts are free and no limit stops it;
    else none (measured in benchmarks/best.py). Scores are exact. Cost: see `interval` and
    `local`. An evaluation is a policy scored; each interval that the dynamic programming goes
    through is one, since the best partition that has it is scored.
    """
    if (~run.required).sum() <= FULL:
        exhaustive.explore(run)
    else:
        seek(run)


def seek(run: Run) -> None:
    """Search as `explore` does where more cuts are free."""
    steepest.explore(run)
    attributes = attributes_of(run)
    for weight in weights(WEIGHTS):
        for policy in settle_all(run, attributes, weight):
            steepest.descend(run, policy, rescue=run.evaluator.rules.active)
    neighbourhood = Neighbourhood(run)
    most = run.evaluations + PATIENCE
    while (run.limited or run.evaluations < most) and neighbourhood.step():
        pass
