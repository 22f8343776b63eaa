"""Prove a lower bound on loss + weight x risk of any policy, and on the area."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.core.frontier import Frontier
from voile.core.interruption import ctrl_c
from voile.tables.fitting.bounds.nesting import refuse_too_many
from voile.tables.fitting.bounds.proof import BoundProof
from voile.tables.fitting.bounds.relaxation import SecondsUsed
from voile.tables.fitting.bounds.sandwich import between
from voile.tables.fitting.searches.resume import continue_from
from voile.tables.fitting.searches.run import TablesSearchRun
from voile.tables.policies.loss_bound import LossBound, ProofProgress
from voile.tables.scoring.group_measures import EvenSpread, SizeWeighing

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
    from voile.tables.fitting.searches.result import ScoredSpace

__all__ = ["LossBound", "ProofProgress", "bound", "refuse_unbounded"]

Floats = NDArray[np.float64]

LEAST_WEIGHT, MOST_WEIGHT, WEIGHTS = 0.03, 3e3, 20


def bound(
    space: ScoredSpace,
    frontier: Frontier,
    *,
    weights: ArrayLike | None = None,
    seconds: float | None = None,
    progress: Callable[[ProofProgress], None] | None = None,
) -> LossBound:
    """Prove that no policy has less loss + weight x relative risk than a bound.

    The proof enumerates every partition of all attributes except the two largest. For each, the
    largest attribute may have a different partition in each interval of the second largest. Every
    policy is feasible in this relaxation. Its optimum is a shortest path over shortest paths.
    Multipliers on the largest attribute's split points then make these partitions agree (Lagrangian
    decomposition).

    Parameters
    ----------
    space : a space with an `evaluator`, which scores policies and contains the constraints. The
        proof respects the constraints.
    frontier : the policies to compare with. A better frontier makes the proof faster.
    weights : the weights of relative risk against loss, > 0. None uses 20 weights from 0.03 to
        3,000. With `seconds`, the proof then adds weights between them (see `between`) as long as
        these raise the bound on the area.
    seconds : the time limit, > 0. It is checked between parts of a step.
    progress : a function that is called after each step.

    Returns
    -------
    bound : a `LossBound`. Its bounds are NaN if `seconds` or Ctrl-C stopped the proof before the
        first bound. A bound that was still rising when the proof was stopped is proved as well.

    Guarantee: proved for the exact scores, with an allowance for rounding. With one attribute, the
    bound on loss + weight x risk is the optimum itself. With more attributes it may be lower. The
    proof checks the limit on suppression for each generalised cell, not for their sum.

    Raises
    ------
    InfeasibleError : no policy meets the constraints.
    RequestError : an argument is out of range, or the frontier is of another space. Also if a
        measure has no bound, or if all attributes except two have too many partitions.

    Cost: at most O(outer^2 inner^2 (boxes + weights x combos)) for the first bounds. A box is a
    product of intervals of the other attributes, and a combo is a partition of them.
    """
    asked = _check_weights(weights)
    if seconds is not None and not seconds > 0:
        raise RequestError("seconds must be more than 0")
    refuse_unbounded(space.evaluator)
    proof, stopped = None, "finished"
    try:
        with ctrl_c():
            proof = BoundProof(_run_with(space.evaluator, frontier), seconds, progress)
            proof.go(asked)
            while weights is None and seconds is not None:
                more = between(np.sort(proof.weights), proof.run.found)
                if not len(more):
                    break
                proof.go(more)
    except SecondsUsed:
        stopped = "seconds"
    except KeyboardInterrupt:
        stopped = "interrupted"
    if proof is None or not len(proof.weights):
        return LossBound.none(asked, frontier, stopped)
    return _bound_of(proof, stopped)


def _bound_of(proof: BoundProof, stopped: str) -> LossBound:
    """Return the proved bound. A bound of 0 counts as none, unless a found policy reaches 0."""
    order, run = np.argsort(proof.weights), proof.run
    best = proof.best[order]
    floors = _clip(run.evaluator, proof.floors[:, order])
    proved = np.minimum(floors.min(axis=0), best)
    proved[(proved <= 0) & (best > 0)] = np.nan
    return LossBound(
        weight=proof.weights[order],
        bound=proved,
        best=best,
        gap=np.divide(best - proved, best, out=proved * 0, where=best > 0),
        seconds=np.where(np.isnan(proved), np.nan, proof.seconds[order]),
        floors=floors,
        least_risk=_least_risk(run.evaluator),
        frontier=run.frontier(),
        stopped=stopped,
    )


def _check_weights(weights: ArrayLike | None) -> Floats:
    if weights is None:
        return np.geomspace(LEAST_WEIGHT, MOST_WEIGHT, WEIGHTS)
    asked = np.unique(np.asarray(weights, dtype=np.float64))
    if not len(asked) or not (asked > 0).all() or np.isinf(asked).any():
        raise RequestError("weights must be finite numbers above 0, at least one")
    return asked


def refuse_unbounded(evaluator: PolicyEvaluator) -> None:
    """Raise an error, before any work, for measures or constraints without a bound.

    See `bound`.
    """
    refuse_too_many(evaluator.scorer.sizes, evaluator.required[~evaluator.forbidden])
    if evaluator.constraints.of_shares:
        raise RequestError(
            "there is no bound under entropy l-diversity or t-closeness", instead="leave it out"
        )
    for measure, kind in ((evaluator.risk, SizeWeighing), (evaluator.loss, EvenSpread)):
        if not isinstance(measure.each, kind):
            raise RequestError(
                f"there is no bound for {measure.name}",
                instead="take --loss information, and matches, weighed or not, as the risk",
            )


def _run_with(evaluator: PolicyEvaluator, frontier: Frontier) -> TablesSearchRun:
    """Return a run that has found the frontier, and the most general and most specific policy."""
    rng = np.random.default_rng(0)
    run = TablesSearchRun(evaluator, evaluations=None, seconds=None, rng=rng, progress=None)
    run.begin()
    continue_from(run, frontier)
    return run


def _clip(evaluator: PolicyEvaluator, floors: Floats) -> Floats:
    """Return bounds that are valid if a loss above 1 counts as 1.

    Only suppression causes such losses, and they exceed 1 by at most the suppressed share. Without
    suppression, the kept records lose at most the nats of the top. A policy with such a loss
    therefore has at least its bound minus that share, and at least 1.
    """
    if not evaluator.rules.active:
        return np.maximum(floors, 0.0)
    lowered = floors - evaluator.constraints.suppress
    return np.maximum(np.minimum(floors, 1.0), np.maximum(lowered, 0.0))


def _least_risk(evaluator: PolicyEvaluator) -> float:
    """Return a lower bound on the risk of any allowed policy.

    Without suppression, risk is monotone, so the bound is the risk of the most general policy.
    """
    if evaluator.rules.active:
        return 0.0
    top = evaluator.evaluate(evaluator.required[None])[0][0]
    return float(top) * (1 - 1e-9)
