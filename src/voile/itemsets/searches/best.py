"""Find the optimum if that is fast, and greedy sets otherwise."""

from __future__ import annotations

from voile.itemsets.searches import exact, greedy
from voile.itemsets.searches.branch import branch, is_quick
from voile.itemsets.searches.run import ItemsetsSearchRun

MOST_PAIRS = 2**23


def explore(run: ItemsetsSearchRun) -> None:
    """Score the whole lattice of up to 20 candidates, or build sets as `greedy` does.

    With few rows and features, branch and bound continues from the greedy sets. It often finds the
    optimum, and always a bound. If features are given, only `greedy` is used.
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
