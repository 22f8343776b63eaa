"""The paper's Maximal: the best of the largest maximal frequent itemsets (Section 4.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from voile.core.errors import InfeasibleError, RequestError
from voile.core.interruption import ctrl_c
from voile.itemsets.rows.incidence import Incidence
from voile.itemsets.searches.run import ItemsetsSearchLimit, ItemsetsSearchRun

if TYPE_CHECKING:
    from voile.itemsets.kernels.maximal import MiningState

LARGEST = 20
STEPS = 4096


def explore(run: ItemsetsSearchRun) -> None:
    """Mine the 20 largest maximal frequent itemsets, and keep the one of the highest utility.

    A frequent set is feasible, but a feasible set need not be frequent (Lemma 3 holds in one
    direction only). This method therefore misses most feasible sets. It takes far longer than
    `greedy`: exponential in the number of features in the worst case. An evaluation is one examined
    itemset.
    """
    from voile.itemsets.kernels.maximal import mine

    if run.constraint.absences or run.constraint.m is not None:
        raise RequestError("the method maximal knows neither m nor absences", instead="use greedy")
    order = np.argsort(run.rows.supports[run.candidates], kind="stable")
    rows = run.rows.project(run.candidates).arrange_features(order)
    mining = _begin(rows, run.constraint.k)
    try:
        with ctrl_c():
            while mining.stand[0] >= 0:
                run.spend(mine(rows.groups, mining, run.constraint.k, run.room(STEPS)))
    except (ItemsetsSearchLimit, KeyboardInterrupt):
        if not mining.many[0]:
            raise InfeasibleError(
                "no maximal frequent itemset was found in time", instead="use greedy"
            ) from None
        raise
    finally:
        for found, size in zip(mining.found, mining.sizes[: mining.many[0]], strict=False):
            run.offer(run.candidates[order[found[:size]]])


def _begin(rows: Incidence, k: int) -> MiningState:
    """Return the initial state of a search.

    No frequent itemset is longer than the k-th longest row.
    """
    from voile.itemsets.kernels.maximal import MiningState

    features, patterns = len(rows.features), len(rows.own)
    sizes = np.repeat(np.diff(rows.starts), np.minimum(rows.sharing, k))
    longest = int(np.sort(sizes)[-k]) if len(sizes) >= k else 0
    levels = longest + 2
    mining = MiningState(
        patterns=np.zeros((levels, patterns), dtype=np.int32),
        held=np.zeros(levels, dtype=np.int64),
        head=np.zeros(features + 1, dtype=np.int32),
        heads=np.zeros(levels, dtype=np.int64),
        tail=np.zeros((levels, features), dtype=np.int32),
        tails=np.zeros(levels, dtype=np.int64),
        at=np.zeros(levels, dtype=np.int64),
        stand=np.zeros(2, dtype=np.int64),
        found=np.zeros((LARGEST, features), dtype=np.int32),
        sizes=np.zeros(LARGEST, dtype=np.int64),
        many=np.zeros(1, dtype=np.int64),
        marks=np.zeros(rows.n_shared + 1, dtype=np.int64),
    )
    mining.patterns[0], mining.held[0] = np.arange(patterns), patterns
    return mining
