"""Score every policy."""

from __future__ import annotations

import numpy as np

from voile.core.errors import RequestError
from voile.tables.fitting.searches.run import TablesSearchRun

MOST_BITS = 20
BATCH = 4096


def explore(run: TablesSearchRun) -> None:
    """Score all 2**cuts allowed policies, so that the frontier is complete and exact.

    Raises
    ------
    RequestError : more than 20 split points are free.
    """
    cuts = np.flatnonzero(~run.required)
    if len(cuts) > MOST_BITS:
        raise RequestError(
            f"2**{len(cuts)} policies are too many to score all",
            instead=f"leave at most {MOST_BITS} cuts free, or use the steepest method",
        )
    # The first and the last policy are the two ends, which are already scored.
    for begin in range(1, 2 ** len(cuts) - 1, BATCH):
        numbers = np.arange(begin, min(begin + BATCH, 2 ** len(cuts) - 1))
        rows = np.ones((len(numbers), run.n_bits), dtype=np.bool_)
        rows[:, cuts] = (numbers[:, None] >> np.arange(len(cuts))) & 1
        run.add(run.evaluator.normalise(run.scorer.score(rows)), rows.__getitem__)
