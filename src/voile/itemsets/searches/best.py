"""The default: the optimum where it can be had soon, else greedy sets."""

from __future__ import annotations

from voile.itemsets.searches import exact, greedy
from voile.itemsets.searches.branch import branch, is_quick
from voile.itemsets.searches.run import ItemsetsSearchRun

MOST_PAIRS = 2**23


def explore(run: ItemsetsSearchRun) -> None:
    """Score the whole lattice of up to 20 candidates; else build sets as `greedy` does.

    With few rows and features, go on by branch and bound: often to the optimum, always to a bound.
    With features given, `greedy` alone.
    """
    if not len(run.given) and exact.fits(run):
        exact.lattice(run)
    elif len(run.given) or not is_quick(run):
        greedy.explore(run)
    else:
        greedy.some(run)
        branch(run, most=MOST_PAIRS)
        while run.limited and run.bound != run.utility:
            greedy.restart(run)
