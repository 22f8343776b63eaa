"""Search the lattice of policies for the risk-loss frontier."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from voile.errors import RequestError, nearest
from voile.tables.searches import best, exhaustive, interval, local, steepest
from voile.tables.searches.chains import RandomChain
from voile.tables.searches.result import Checkpoint, History, SearchResult, Space
from voile.tables.searches.run import Limit, Run
from voile.tables.searches.sublattice import SublatticeSearch

__all__ = ["STRATEGIES", "Checkpoint", "History", "SearchResult", "Space", "search"]

Strategy = Callable[[Run], None]

STRATEGIES: Mapping[str, Strategy] = {
    "best": best.explore,
    "steepest": steepest.explore,
    "interval": interval.explore,
    "local": local.explore,
    "random-chain": RandomChain(),
    "sublattice": SublatticeSearch(),
    "exhaustive": exhaustive.explore,
}


def search(
    space: Space,
    *,
    strategy: str | Strategy = "steepest",
    evaluations: int | None = None,
    seconds: float | None = None,
    random_state: int | np.random.Generator | None = None,
    progress: Callable[[Checkpoint], None] | None = None,
) -> SearchResult:
    """Find policies that no other found beats in risk and loss.

    The most general and the most detailed policy allowed are scored first. The same seed and
    the same number of evaluations give the same frontier; a run limited by seconds records how
    many it made.

    Parameters
    ----------
    space : whose `evaluator` scores policies and holds the constraints.
    strategy : the name of one in `STRATEGIES`: `steepest`; `random-chain` (Algorithm 1);
        `sublattice` (Algorithm 2); `interval`, `local`, and `best`, which joins them with
        steepest and goes on for minutes unless limited; `exhaustive` (up to 2**20 policies). Or
        a strategy with parameters of its own, such as `SublatticeSearch(threshold=0.5)`.
    evaluations : largest number of policies scored, >= 1; where None, what the strategy needs.
    seconds : when to stop, > 0; looked at between batches, so passed by up to one of them.
    random_state : seed or generator, for the strategies that draw.
    progress : called after each batch.

    Returns
    -------
    SearchResult : with a frontier of feasible policies only, never empty. Ctrl-C returns what
        there is, once the first batch is in.

    Raises
    ------
    InfeasibleError : even the most general policy allowed suppresses too much. Generalising
        never suppresses more, so then no policy is feasible.
    RequestError : an unknown strategy, limits out of range, or a space too large to exhaust.
    """
    if isinstance(strategy, str) and strategy not in STRATEGIES:
        raise RequestError(f"no strategy {strategy!r}", instead=nearest(strategy, STRATEGIES))
    if evaluations is not None and evaluations < 1:
        raise RequestError("evaluations must be at least 1")
    if seconds is not None and not seconds > 0:
        raise RequestError("seconds must be more than 0")
    run = Run(
        space.evaluator,
        evaluations=evaluations,
        seconds=seconds,
        rng=np.random.default_rng(random_state),
        progress=progress,
    )
    try:
        run.begin()
        explore = STRATEGIES[strategy] if isinstance(strategy, str) else strategy
        explore(run)
        stopped = "finished"
    except Limit as limit:
        stopped = limit.reason
    except KeyboardInterrupt:
        if len(run.checkpoints) < 2:  # nothing but the two ends, or not even compiled code
            raise
        stopped = "interrupted"
    return SearchResult(
        frontier=run.frontier(),
        history=History.of(run.checkpoints),
        evaluations=run.evaluations,
        strategy=strategy if isinstance(strategy, str) else repr(strategy),
        stopped=stopped,
    )
