"""Compute an upper bound of the utility of every feasible set, if the search proved none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.searches.branch import by_colours, pairable
from voile.itemsets.searches.exact import MOST_BITS, heaviest
from voile.itemsets.searches.run import SetUtility

MOST_BLOCKS = 5
MOST_FEATURES = 2**13
MOST_ONES = 2**24
MOST_PAIRS = 2**29


def utility_bound(worth: SetUtility, constraint: Constraint) -> float:
    """Bound the utility of feasible sets by small blocks of features and by clashing features.

    The heaviest features are divided into blocks of 20. Each block counts with the weight of its
    best feasible set. Two other features are a *clash* if they occur together, but for fewer than k
    subjects. A set contains at most one of several features that clash pairwise.

    The 8,192 best features are coloured so that features of one colour clash pairwise. A weight may
    be split among several colours. All remaining features count fully. All features outside blocks
    count fully if the rows are very many or long. If m is 1, every feature counts fully.

    The number of blocks, from zero to five, is the one with the least bound. DistCnt and CM can
    only grow with the set. Their bound is the utility of all features that may be published alone.
    """
    may = constraint.candidates(worth.rows)
    if worth.weights is None:
        return worth(may)
    may = may[worth.weights[may] > 0]
    may = may[np.argsort(-worth.weights[may], kind="stable")]
    if constraint.m == 1 or not len(may):
        return worth(may)
    coloured = len(worth.rows.items) <= MOST_ONES
    most = may[: MOST_FEATURES if coloured else MOST_BLOCKS * MOST_BITS]
    rows = worth.rows.project(most).arrange_features(np.argsort(np.argsort(most)))
    weights, ends = worth.weights[most], range(0, MOST_BLOCKS * MOST_BITS + 1, MOST_BITS)
    blocks = [
        heaviest(rows.project(np.arange(len(most))[start:end]), weights[start:end], constraint)
        for start, end in pairwise(ends)
    ]
    others = np.array([worth(may[end:]) for end in ends])
    if coloured and (np.diff(rows.starts) ** 2).sum() <= MOST_PAIRS:
        pairs, left = pairable(rows, constraint), worth(may[len(most) :])
        others = np.array([by_colours(rows, weights, pairs, end) for end in ends]) + left
    return float(np.min(np.cumsum([0.0, *blocks]) + others))
