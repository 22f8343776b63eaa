"""Bisect chains for policies with no more risk than a given policy.

Source: Benitez, Loukides, Malin, "Beyond Safe Harbor: Automatic Discovery of Health Information
De-identification Policy Alternatives", IHI 2010.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import InfeasibleError, RequestError
from voile.tables.fitting.paper.chains import CHAINS, Order, draw_order
from voile.tables.fitting.searches.run import TablesSearchRun


@dataclass(frozen=True)
class BisectSearch:
    """A search of random maximal chains for the most specific policy within a limit of risk.

    Risk decreases along a chain (Def. 3.7), so bisection finds that policy exactly, with
    log2(n_bits) scores. If records may be suppressed, risk is not monotone. The only guarantee is
    then that the found policies meet the limit. Without a limit of evaluations, 20 chains are
    searched. `alternatives` returns the policies within the limit.

    Parameters
    ----------
    risk : relative risk in [0, 1], such as Safe Harbor's on the same tables.
    order : the order in which chains merge, see `draw_order`.
    """

    risk: float
    order: Order = "bits"

    def __post_init__(self) -> None:
        if not 0 <= self.risk <= 1:
            raise RequestError("risk must lie between 0 and 1")

    def __call__(self, run: TablesSearchRun) -> None:
        for _ in self.alternatives(run):
            pass

    def alternatives(self, run: TablesSearchRun) -> Iterator[NDArray[np.bool_]]:
        """Yield the policy found on each chain, (n_bits,) bool, in the run's lattice.

        Raises
        ------
        InfeasibleError : even the most general policy has a higher risk.
        """
        cuts = np.flatnonzero(~run.required)
        least = self._score(run, run.required)
        if least > self.risk:
            raise InfeasibleError(
                f"no policy has a risk of at most {self.risk:.6g}",
                instead=f"the most general has {least:.6g}",
            )
        chains = 0
        while len(cuts) and (run.limited or chains < CHAINS):
            chains += 1
            yield self._bisect(run, draw_order(run, cuts, self.order))

    def _bisect(self, run: TablesSearchRun, order: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return the chain's most specific policy within the limit of risk."""
        too_few, enough = -1, len(order)  # numbers of merges, both outside the range that remains
        while enough - too_few > 1:
            merges = (too_few + enough) // 2
            if self._score(run, _after(run, order[:merges])) <= self.risk:
                enough = merges
            else:
                too_few = merges
        return _after(run, order[:enough])

    def _score(self, run: TablesSearchRun, policy: NDArray[np.bool_]) -> float:
        """Return one policy's risk, or infinity if it suppresses too much."""
        rows = policy[None]
        scores = run.evaluator.scores(run.widen(rows))
        run.add(scores, rows.__getitem__)
        feasible = run.evaluator.feasible(run.widen(rows), scores)
        return float(scores.risk[0]) if feasible[0] else np.inf


def _after(run: TablesSearchRun, merged: NDArray[np.intp]) -> NDArray[np.bool_]:
    policy = np.ones(run.n_bits, dtype=np.bool_)
    policy[merged] = False
    return policy
