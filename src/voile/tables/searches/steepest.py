"""The steepest chain, every neighbour of which is scored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.errors import VoileError
from voile.tables.searches.run import Run

if TYPE_CHECKING:
    from voile.tables.evaluator import Policies
    from voile.tables.kernels.lattice import Lattice

BATCH = 2**15
CHECKED = 8
DRIFT = 1e-9


def explore(run: Run) -> None:
    """Walk from the bottom by the merge that takes away most risk for each nat lost.

    What merging each pair of neighbouring intervals would change is kept, and after a merge
    only what the two slabs touched is changed; so all neighbours of every policy on the way are
    scored exactly for little more than the walk itself. Merges that cost nothing come first.
    Where constraints suppress records, a second chain also counts the share of the suppressed
    subjects taken away, until no more are suppressed than allowed.

    Guarantee: none on what is found (measured in benchmarks/area.py); scores are exact, and
    some of them are checked from scratch. Cost: n_bits**2 / 2 evaluations a chain.
    """
    from voile.tables.kernels.lattice import lattice
    from voile.tables.kernels.walk import BY_BOTH, BY_RISK, changes

    bottom = lattice(run.cells, run.evaluator.rules)
    change = changes(bottom)
    _descend(run, bottom.copy(), change.copy(), BY_RISK)
    if run.evaluator.rules.active:
        _descend(run, bottom, change, BY_BOTH)
    if (drift := run.drift(CHECKED)) > DRIFT:
        raise VoileError(f"scores kept along the chain drifted by {drift:.1e}")


def _descend(run: Run, at: Lattice, change: NDArray[np.float64], guide: int) -> None:
    from voile.tables.kernels.walk import descend

    open_bits = ~run.required
    policy = np.ones(run.n_bits, dtype=np.bool_)
    allowed = run.evaluator.constraints.suppress * run.evaluator.subjects
    while (left := int(open_bits.sum())) > 0:
        steps = min(left, max(1, BATCH // left))
        risk, nats, suppressed = (np.empty(steps * left) for _ in range(3))
        merged = np.empty(steps, dtype=np.int32)
        count, bits = descend(
            at, change, open_bits, guide, allowed, steps, risk, nats, suppressed, merged
        )
        on_the_way = np.tile(policy, (steps, 1))
        on_the_way[:, merged] = ~np.tri(steps, k=-1, dtype=np.bool_)
        step = np.repeat(np.arange(steps), left - np.arange(steps))
        scores = run.evaluator.normalised(risk[:count], nats[:count], suppressed[:count])
        run.add(scores, partial(_neighbours, on_the_way, step, bits))
        policy = on_the_way[-1].copy()
        policy[merged[-1]] = False


def _neighbours(
    on_the_way: Policies,
    step: NDArray[np.int64],
    bits: NDArray[np.int32],
    indices: NDArray[np.intp],
) -> Policies:
    """Return the policies on the way, each with one more merge."""
    rows = on_the_way[step[indices]]
    rows[np.arange(len(indices)), bits[indices]] = False
    return rows
