"""Random Chain Search (Algorithm 1)."""

from __future__ import annotations

import numpy as np

from voile.tables.searches.run import Run

CHAINS = 20
PIECE = 128


def explore(run: Run) -> None:
    """Walk random maximal chains from the bottom to the top and keep what nothing beats.

    Each chain merges at all cuts, in an order drawn uniformly from all orders. Each of its
    policies but the two ends, which all chains share, is an evaluation. Without a limit: 20
    chains, as many as the paper's 14,780 policies hold.

    Guarantee: none on what is found; scores are exact. Cost of a chain: O(cells log cells) for
    each attribute.
    """
    from voile.tables.kernels.lattice import lattice
    from voile.tables.kernels.walk import follow

    bottom = lattice(run.cells, run.evaluator.rules)
    cuts = np.flatnonzero(~run.required)
    chains = 0
    while len(cuts) > 1 and (run.limited or chains < CHAINS):
        at, order = bottom.copy(), run.rng.permutation(cuts)[:-1]
        chains += 1
        policy = np.ones(run.n_bits, dtype=np.bool_)
        for begin in range(0, len(order), PIECE):
            piece = order[begin : begin + PIECE]
            risk, nats, suppressed = (np.empty(len(piece)) for _ in range(3))
            follow(at, piece, risk, nats, suppressed)
            rows = np.tile(policy, (len(piece), 1))
            rows[:, piece] = ~np.tri(len(piece), dtype=np.bool_)
            policy = rows[-1]
            run.add(run.evaluator.normalised(risk, nats, suppressed), rows.__getitem__)
