"""The paper's greedy selectors, which stop at the first feature that may not join.

Zhang, Mohammed, Dave, Al Hasan, Transactions on Data Privacy 2017, Algorithms 2 and 3, and their
rivals. Each has a utility of its own.
"""

from __future__ import annotations

import numpy as np

from voile.itemsets.searches.gaining import gain_greedily, settle_greedily
from voile.itemsets.searches.run import Run


def hamdist(run: Run) -> None:
    """Put in features by their HamDist, the largest first (Algorithm 2).

    Under exact k-anonymity, the paper's rival k-anonymity HamDist.
    """
    weights = run.weights[run.candidates]
    run.fill(run.candidates[np.argsort(-weights, kind="stable")], stop=True)


def distcnt(run: Run) -> None:
    """Put in the feature that tells most unlike pairs apart, while it may join (Algorithm 3).

    The printed loop condition is the wrong way round, and says nothing of gains: this one ends
    at the first feature that may not join, or that adds nothing. Its set is worth at least
    1 - 1/e of the best set of as many features (Theorem 3), feasible or not; that is no bound on
    the best feasible set. Under exact k-anonymity, the rival k-anonymity DistCnt.
    """
    gain_greedily(run, skip=False)


def cm(run: Run) -> None:
    """Put in the feature that lowers the classification metric most (CM greedy)."""
    settle_greedily(run)
