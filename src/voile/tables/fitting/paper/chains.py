"""Draw random maximal chains (Def. 3.5): the order of their merges, and the walk along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.tables.fitting.searches.run import TablesSearchRun

if TYPE_CHECKING:
    from voile.tables.fitting.scoring.evaluator import Policies

Order = Literal["bits", "attributes"]
Cuts = NDArray[np.intp]

CHAINS = 20


@dataclass(frozen=True)
class RandomChain:
    """A search that walks random maximal chains from bottom to top (Algorithm 1).

    `order` is explained in `draw_order`. Each policy of a chain except the two ends is an
    evaluation. Without a limit it walks 20 chains, as many as the paper's 14,780 policies contain.
    """

    order: Order = "bits"

    def __call__(self, run: TablesSearchRun) -> None:
        bottom = np.ones(run.n_bits, dtype=np.bool_)
        cuts = np.flatnonzero(~run.required)
        chains = 0
        while len(cuts) > 1 and (run.limited or chains < CHAINS):
            chains += 1
            walk(run, bottom, draw_order(run, cuts, self.order))


def draw_order(run: TablesSearchRun, cuts: Cuts, order: Order) -> Cuts:
    """Return `cuts` in the order in which a random chain merges at them.

    `bits` draws uniformly from all orders, so that every attribute is generalised at the same pace.
    `attributes` takes the attributes one after another, in random order, and the split points of
    each in random order.
    """
    if order not in get_args(Order):
        raise RequestError(f"no order {order!r}", instead="bits or attributes")
    shuffled = run.rng.permutation(cuts)
    if order == "bits":
        return shuffled
    sizes = run.scorer.sizes
    attribute = np.repeat(np.arange(len(sizes)), sizes - 1)
    turn = run.rng.permutation(len(sizes))
    return shuffled[np.argsort(turn[attribute[shuffled]], kind="stable")]


def walk(run: TablesSearchRun, start: Policies, order: Cuts) -> None:
    """Score the policies strictly between `start` and the result of merging at all of `order`."""
    policy, done = start, 0
    for sums in run.scorer.walk(start, order[:-1]):
        rows = np.tile(policy, (len(sums), 1))
        rows[:, order[done : done + len(sums)]] = ~np.tri(len(sums), dtype=np.bool_)
        policy, done = rows[-1], done + len(sums)
        run.add(run.evaluator.normalise(sums), rows.__getitem__)
