"""The paper's greedy selectors, which stop at the first feature that may not join.

Source: Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy 2017, Algorithms 2 and 3, and
the rivals of these. Each selector has its own utility.
"""

from __future__ import annotations

import numpy as np

from voile.itemsets.searches.gains import gain_greedily, settle_greedily
from voile.itemsets.searches.run import ItemsetsSearchRun


def hamdist(run: ItemsetsSearchRun) -> None:
    """Add features by their HamDist, the largest first (Algorithm 2; k-anonymity HamDist)."""
    weights = run.weights[run.candidates]
    run.fill(run.candidates[np.argsort(-weights, kind="stable")], stop=True)


def distcnt(run: ItemsetsSearchRun) -> None:
    """Repeatedly add the feature that distinguishes most pairs of different labels (Algorithm 3).

    The loop condition in the paper is inverted, and has no rule for gains of 0. This search ends at
    the first feature that may not join, or that adds nothing. The utility of its set is at least 1
    - 1/e of the best set of as many features (Theorem 3). This is no bound relative to the best
    feasible set.
    """
    gain_greedily(run, skip=False)


def cm(run: ItemsetsSearchRun) -> None:
    """Repeatedly add the feature that lowers the classification metric most (CM greedy)."""
    settle_greedily(run)
