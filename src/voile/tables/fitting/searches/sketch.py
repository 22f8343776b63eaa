"""Walk an approximate steepest chain with few evaluations, for a search with a small limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from voile.tables.fitting.kernels.scorer import LOSS, RISK, ChainDescent, Sums
from voile.tables.fitting.searches.run import TablesSearchRun

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import Policies

NOTHING = 1e-13


def sketch(run: TablesSearchRun, block: int) -> None:
    """Walk from the bottom to the top, and score only merges that looked best when last scored.

    Each round walks the steepest chain among `block` split points: those that removed the most risk
    for their loss when last scored. It keeps the chain's first half and scores the other split
    points again. Cost: about n_bits x (block + 2) evaluations.
    """
    policy = np.ones(run.n_bits, dtype=np.bool_)
    own, left = run.scorer.score(policy[None])[0], np.flatnonzero(~run.required)
    sums = run.scorer.flips(policy[None])[0][left]
    run.add(run.evaluator.normalise(sums), lambda which: _without(policy, left[which]))
    rate = np.zeros(run.n_bits)
    rate[left] = _rates(run, sums - own)
    while len(left):
        best = left[np.argsort(-rate[left], kind="stable")[:block]]
        walked = _descend(run, policy, best)
        kept = len(best) if len(best) == len(left) else (len(best) + 1) // 2
        last, policy = walked.on_the_way[kept - 1], policy.copy()
        gone = best[~walked.on_the_way[kept, best]] if kept < len(best) else best
        policy[gone] = False
        own = walked.sums[(walked.step == kept - 1) & last[walked.bit] & ~policy[walked.bit]][0]
        beside = walked.step == kept
        rate[walked.bit[beside]] = _rates(run, walked.sums[beside] - own)
        left = left[policy[left]]


def _descend(run: TablesSearchRun, policy: Policies, cuts: NDArray[np.intp]) -> ChainDescent:
    """Walk the steepest chain from a policy among `cuts`, and return the whole chain."""
    free = np.isin(np.arange(run.n_bits), cuts)
    allowed = run.evaluator.constraints.suppress * run.evaluator.subjects
    pieces = list(run.scorer.descend(policy, free, rescue=False, allowed=allowed))
    for some in pieces:
        run.add(run.evaluator.normalise(some.sums), some.policies)
    before = np.cumsum([0] + [len(some.on_the_way) for some in pieces])
    return ChainDescent(
        np.concatenate([some.on_the_way for some in pieces]),
        np.concatenate([some.step + first for some, first in zip(pieces, before, strict=False)]),
        np.concatenate([some.bit for some in pieces]),
        np.concatenate([some.sums for some in pieces]),
    )


def _rates(run: TablesSearchRun, changes: Sums) -> NDArray[np.float64]:
    """Return the removed risk for each unit of loss, or infinity if a merge has no loss."""
    units = np.array(run.evaluator.units)
    shares = np.divide(changes, units, out=np.zeros_like(changes), where=units > 0)
    none = shares[:, LOSS] <= NOTHING
    return np.where(none, np.inf, -shares[:, RISK] / np.where(none, 1.0, shares[:, LOSS]))


def _without(policy: Policies, cuts: NDArray[np.intp]) -> Policies:
    rows = np.tile(policy, (len(cuts), 1))
    rows[np.arange(len(cuts)), cuts] = False
    return rows
