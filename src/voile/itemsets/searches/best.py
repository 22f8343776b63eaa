"""The default: the optimum where it can be had soon, else greedy sets."""

from __future__ import annotations

from voile.itemsets.searches import exact, greedy
from voile.itemsets.searches.branch import branch, is_quick
from voile.itemsets.searches.run import Run

MOST_PAIRS = 2**23


def explore(run: Run) -> None:
    """Score the whole lattice of up to 20 candidates; else build sets as `greedy` does.

    Of few rows and features, it then goes on by branch and bound through eight million pairs of
    features: often to the optimum, and to a bound in any case.

    Guarantee: on the lattice the optimum, with `bound` equal to it; by branch and bound, `bound`
    is proven; else as `greedy`, and `bound` is None.
    """
    if exact.fits(run):
        exact.lattice(run)
        return
    if not is_quick(run):
        greedy.explore(run)
        return
    greedy.some(run)
    branch(run, most=MOST_PAIRS)
    while run.limited and run.bound != run.utility:
        greedy.restart(run)
