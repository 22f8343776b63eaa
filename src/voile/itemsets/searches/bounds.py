"""A bound on every feasible set, where the search proved none."""

from __future__ import annotations

import numpy as np

from voile.itemsets.measures.feasibility import Constraint
from voile.itemsets.searches.branch import by_colours, pairable
from voile.itemsets.searches.run import Worth

MOST_FEATURES = 2**13
MOST_ONES = 2**24
MOST_PAIRS = 2**29


def clash_bound(worth: Worth, constraint: Constraint) -> float:
    """Bound a feasible set by which two features cannot be published together.

    Features that occur together, but for fewer than k, are a *clash*, and of those that clash
    pairwise a set holds at most one. The eight thousand best features are coloured so that those
    of a colour clash pairwise, each weight split among several colours; the others count whole, and
    so do all where rows are very many or long, or m is 1. DistCnt and CM only grow with the set,
    and are bounded by all that may be published alone.
    """
    may = constraint.candidates(worth.rows)
    if worth.weights is None:
        return worth(may)
    may = may[worth.weights[may] > 0]
    may = may[np.argsort(-worth.weights[may], kind="stable")]
    most, others = may[:MOST_FEATURES], may[MOST_FEATURES:]
    if constraint.m == 1 or not len(most) or len(worth.rows.items) > MOST_ONES:
        return worth(may)
    rows = worth.rows.project(most).arranged(np.argsort(np.argsort(most)))
    if (np.diff(rows.starts) ** 2).sum() > MOST_PAIRS:
        return worth(may)
    pairs = pairable(rows, constraint)
    return by_colours(rows, worth.weights[most], pairs) + worth(others)
