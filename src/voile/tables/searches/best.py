"""What gives the least area: the steepest chain, shortest paths, chains from them, local search."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.tables.searches import exhaustive, steepest
from voile.tables.searches.interval import attributes_of, settle_all, weights
from voile.tables.searches.local import Neighbourhood
from voile.tables.searches.run import Run

if TYPE_CHECKING:
    from voile.tables.evaluator import Policies

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
            climb(run, policy)
    neighbourhood = Neighbourhood(run, attributes)
    most = run.evaluations + PATIENCE
    while (run.limited or run.evaluations < most) and neighbourhood.step():
        pass


def climb(run: Run, policy: Policies) -> None:
    """Walk the steepest chain from `policy` to the top; score all neighbours on the way."""
    from voile.tables.kernels.lattice import lattice
    from voile.tables.kernels.walk import BY_BOTH, BY_RISK, changes, descend

    kept = np.flatnonzero(policy)
    rules = run.evaluator.rules
    at = lattice(run.cells.coarsen(policy), rules)
    change = changes(at)
    open_bits = ~run.required[kept]
    left = int(open_bits.sum())
    allowed = run.evaluator.constraints.suppress * run.evaluator.subjects
    guide = BY_BOTH if rules.active else BY_RISK
    here = np.ones(len(kept), dtype=np.bool_)
    while left > 0:
        steps = min(left, max(1, steepest.BATCH // left))
        risk, nats, dropped = (np.empty(steps * left) for _ in range(3))
        merged = np.empty(steps, dtype=np.int32)
        count, bits = descend(
            at, change, open_bits, guide, allowed, steps, risk, nats, dropped, merged
        )
        on_the_way = np.tile(here, (steps, 1))
        on_the_way[:, merged] = ~np.tri(steps, k=-1, dtype=np.bool_)
        step = np.repeat(np.arange(steps), left - np.arange(steps))
        scores = run.evaluator.normalised(risk[:count], nats[:count], dropped[:count])
        run.add(scores, partial(_neighbours, run.n_bits, kept, on_the_way, step, bits))
        here = on_the_way[-1].copy()
        here[merged[-1]] = False
        left -= steps


def _neighbours(
    n_bits: int,
    kept: NDArray[np.intp],
    on_the_way: Policies,
    step: NDArray[np.int64],
    bits: NDArray[np.int32],
    which: NDArray[np.intp],
) -> Policies:
    """Return the policies on the way, each with one more merge, among all `n_bits` cuts."""
    rows = np.zeros((len(which), n_bits), dtype=np.bool_)
    rows[:, kept] = on_the_way[step[which]]
    rows[np.arange(len(which)), kept[bits[which]]] = False
    return rows
