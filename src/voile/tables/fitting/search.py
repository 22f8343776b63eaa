"""Search the lattice of policies for the risk-loss frontier."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from voile.core.errors import InfeasibleError, RequestError, nearest
from voile.core.frontier import Frontier
from voile.core.interruption import ctrl_c
from voile.core.warn import warn
from voile.tables.fitting.paper.chains import RandomChain
from voile.tables.fitting.paper.sublattice import SublatticeSearch
from voile.tables.fitting.scoring.evaluator import PolicyEvaluator
from voile.tables.fitting.searches import best, exhaustive, interval, local, quick, steepest
from voile.tables.fitting.searches.result import (
    ScoredSpace,
    SearchCheckpoint,
    SearchHistory,
    SearchResult,
)
from voile.tables.fitting.searches.resume import continue_from
from voile.tables.fitting.searches.run import DIGITS, TablesSearchLimit, TablesSearchRun
from voile.tables.scoring.group_measures import refuse_estimated

__all__ = [
    "METHODS",
    "Method",
    "ScoredSpace",
    "SearchCheckpoint",
    "SearchHistory",
    "SearchResult",
    "search",
]

Method = Callable[[TablesSearchRun], None]

METHODS: Mapping[str, Method] = {
    "best": best.explore,
    "quick": quick.explore,
    "steepest": steepest.explore,
    "interval": interval.explore,
    "local": local.explore,
    "random-chain": RandomChain(),
    "sublattice": SublatticeSearch(),
    "exhaustive": exhaustive.explore,
}


def search(
    space: ScoredSpace,
    *,
    method: str | Method = "best",
    evaluations: int | None = None,
    seconds: float | None = None,
    random_state: int | np.random.Generator | None = None,
    start: Frontier | None = None,
    progress: Callable[[SearchCheckpoint], None] | None = None,
) -> SearchResult:
    """Find the policies that no other found policy beats in risk and loss.

    The most general and the most specific allowed policy are scored first. The same seed and the
    same number of evaluations give the same frontier. A run limited by seconds records its number
    of evaluations.

    Parameters
    ----------
    space : a space with an `evaluator`, which scores policies and contains the constraints.
    method : a name in `METHODS`, or a method with its own parameters, such as
        `SublatticeSearch(threshold=0.5)`:
        - `best` combines `steepest`, `interval` and `local`. It takes up to about a minute unless
          limited.
        - `quick` takes some seconds.
        - `steepest` takes well under a second.
        - `interval` improves one attribute at a time, and `local` flips one split point at a time.
        - `random-chain` is Algorithm 1, and `sublattice` Algorithm 2.
        - `exhaustive` scores up to 2**20 policies.
    evaluations : the largest number of scored policies, >= 1. None allows as many as the method
        needs. If it is below the length of a maximal chain (free split points, plus 1), a warning
        announces few policies.
    seconds : the time limit, > 0. It is checked between batches, so that one batch may exceed it.
    random_state : the seed or generator of methods that use random numbers.
    start : the frontier of an earlier search, from which to continue. See `continue_from`.
    progress : a function that is called after each batch.

    Returns
    -------
    result : a `SearchResult` with a frontier of feasible policies only, never empty. After Ctrl-C
        it contains the policies found so far, if the first batch is complete.

    Raises
    ------
    InfeasibleError : the most general allowed policy suppresses too much. Generalising never
        suppresses more, so no policy is then feasible. Under entropy l-diversity or t-closeness
        with suppression, a finer policy could be feasible, but the search does not look for it.
    RequestError : an unknown method, limits out of range, a space too large for `exhaustive`, or a
        start with policies of another space.
    """
    if isinstance(method, str) and method not in METHODS:
        raise RequestError(f"no method {method!r}", instead=nearest(method, METHODS))
    if seconds is not None and not seconds > 0:
        raise RequestError("seconds must be more than 0")
    explore = METHODS[method] if isinstance(method, str) else method
    refuse_estimated(space.evaluator.risk)
    _warn_of_few(space.evaluator, evaluations)
    run = TablesSearchRun(
        space.evaluator,
        evaluations=evaluations,
        seconds=seconds,
        rng=np.random.default_rng(random_state),
        progress=progress,
    )
    try:
        with ctrl_c():
            run.begin()
            if start is not None:
                continue_from(run, start)
            explore(run)
        stopped = "finished"
    except TablesSearchLimit as limit:
        stopped = limit.reason
    except KeyboardInterrupt:
        if len(run.checkpoints) < 2:  # only the two ends are scored, or kernels are being compiled
            raise
        stopped = "interrupted"
    return SearchResult(
        frontier=_frontier(run),
        history=SearchHistory.of(run.checkpoints),
        evaluations=run.evaluations,
        method=method if isinstance(method, str) else repr(method),
        stopped=stopped,
    )


def _frontier(run: TablesSearchRun) -> Frontier:
    """Return the found policies that are also t-close to the released records.

    Scores measure t-closeness from all people, since the suppressed people are not known in
    advance. If records may be suppressed, the found policies are counted again from the released
    records alone.
    """
    found, evaluator = run.frontier(), run.evaluator
    if evaluator.constraints.t_closeness == 1 or evaluator.constraints.suppress == 0:
        return found
    rows = np.concatenate([found.policies, run.widen(run.required[None])])
    close = rows[[evaluator.is_close_to_released(policy) for policy in rows]]
    if not len(close):
        raise InfeasibleError(
            "no policy found keeps t_closeness once its records are suppressed",
            instead="ease it, or allow no suppression",
        )
    scores = evaluator.scores(close)
    return Frontier.of(scores.risk.round(DIGITS), scores.loss.round(DIGITS), close)


def _warn_of_few(evaluator: PolicyEvaluator, evaluations: int | None) -> None:
    """Check the limit of evaluations, and warn if it is below the length of a maximal chain."""
    if evaluations is None:
        return
    if evaluations < 1:
        raise RequestError("evaluations must be at least 1")
    chain = int((~evaluator.required & ~evaluator.forbidden).sum()) + 1
    if evaluations < chain:
        warn(
            f"few global policies were scored: the limit of evaluations ({evaluations:,}) is below "
            f"the length of one chain of policies ({chain:,}); allow {chain:,} or more",
            FewFoundWarning,
        )


class FewFoundWarning(UserWarning):
    """A search found few policies. Allow more evaluations or suppression, or fit trees."""
