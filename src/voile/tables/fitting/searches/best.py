"""Search for the least area under the frontier: steepest chains, shortest paths, local search."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from voile.tables.fitting.searches import exhaustive, large, steepest
from voile.tables.fitting.searches.ladder import LadderSearch
from voile.tables.fitting.searches.local import FrontierNeighbourhood
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.fitting.searches.sketch import sketch

if TYPE_CHECKING:
    from voile.core.frontier import Frontier

FULL = 16
BLOCKS = (16, 64)
ROUNDS = 8
LEAST_GAIN = 1e-3
PATIENCE = 2**15


def explore(run: TablesSearchRun) -> None:
    """Search for the least area within the given evaluations or seconds.

    If at most 16 split points are free, all policies are scored. Otherwise the search has three
    steps:

    - the steepest chain, preceded by two sketches of it on large lattices,
    - policies that no attribute can improve for the hull's slopes (`LadderSearch`), until a round
      of 16 weights gains less than 1 in 1,000,
    - neighbours of the frontier's policies (`FrontierNeighbourhood`).

    With a limit, the last two steps alternate. For tables too large to walk, see `large`.

    Guarantee: the whole exact frontier if at most 16 split points are free and no limit stops the
    search. Otherwise none (measured in benchmarks/best.py). Scores are exact.
    """
    if (~run.required).sum() <= FULL:
        exhaustive.explore(run)
    elif run.evaluator.is_large:
        large.explore(run, going_on=True)
    else:
        seek(run)


def seek(run: TablesSearchRun) -> None:
    """Search as `explore` does for more than 16 free split points."""
    for block in BLOCKS:
        if (~run.required).sum() > 4 * block:
            sketch(run, block)
    steepest.explore(run)
    ladder, neighbourhood = LadderSearch(run), FrontierNeighbourhood(run)
    climb(run, ladder)
    going_on = neighbourhood.flip(PATIENCE, twice=True)
    while run.limited and going_on:
        going_on = ladder.round() | neighbourhood.flip(PATIENCE, twice=True)


def climb(run: TablesSearchRun, ladder: LadderSearch, most: float = math.inf) -> None:
    """Run rounds of 16 weights until the gain is small, or `most` evaluations are made."""
    for _ in range(ROUNDS):
        before = areas(run.found)
        ladder.round(most)
        if run.evaluations >= most or areas(run.found) > before * (1 - LEAST_GAIN):
            return


def areas(found: Frontier) -> float:
    """Return the sum of the area and the area over log risk."""
    return found.area() + found.area(log=True)
