"""The default: the optimum where there are few features, else greedy sets."""

from __future__ import annotations

from voile.itemsets.searches import exact, greedy
from voile.itemsets.searches.run import Run


def explore(run: Run) -> None:
    """Score the whole lattice of up to 20 candidates; else build sets as `greedy` does.

    Guarantee: on the lattice the optimum, with `bound` equal to it; else as `greedy`, and `bound`
    is None.
    """
    if exact.fits(run):
        exact.lattice(run)
    else:
        greedy.explore(run)
