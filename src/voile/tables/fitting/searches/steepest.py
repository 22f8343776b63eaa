"""Walk the steepest chain, and score every neighbour of its policies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voile.core.errors import VoileError
from voile.tables.fitting.searches.run import TablesSearchRun

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import Policies

CHECKED = 8
DRIFT = 1e-9


def explore(run: TablesSearchRun) -> None:
    """Walk from the bottom by the merge that removes the most risk for each lost nat.

    A merge changes only the pairs next to its two slabs. All neighbours of every policy on the way
    are therefore scored exactly for little more than the cost of the walk. If constraints suppress
    records, a second chain also counts the removed share of the suppressed subjects. Guarantee:
    none on the found policies (measured in benchmarks/area.py). Some scores are checked from
    scratch.
    """
    bottom = np.ones(run.n_bits, dtype=np.bool_)
    descend(run, bottom, rescue=False)
    if run.evaluator.rules.active:
        descend(run, bottom, rescue=True)
    if (drift := run.drift(CHECKED)) > DRIFT:
        raise VoileError(f"scores kept along the chain drifted by {drift:.1e}")


def descend(
    run: TablesSearchRun, start: Policies, *, rescue: bool, while_it_gains: bool = False
) -> None:
    """Walk the steepest chain from `start` to the top, and score all neighbours on the way.

    With `while_it_gains`, the walk ends when no policy enters the frontier.
    """
    allowed = run.evaluator.constraints.suppress * run.evaluator.subjects
    for some in run.scorer.descend(start, ~run.required, rescue=rescue, allowed=allowed):
        gained = run.add(run.evaluator.normalise(some.sums), some.policies)
        if while_it_gains and not gained:
            return
