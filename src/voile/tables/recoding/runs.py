"""Choose runs of a column's values that may be counted in addition to released leaves.

An adversary who knows the people of each leaf and of each run can subtract. Some leaves extend into
some runs but also beyond them. The subtraction gives the number of their people with a value in
these runs. By the theorem in the module's README, leaves and runs imply no other counts. This
module computes these counts for each pair of split points. Runs end only at split points that imply
no count of a few people or of nobody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]
MOST = 1_024
"""The largest number of split points considered in a column."""


def straddling(low: Ints, high: Ints, people: Ints, cuts: Ints, held: Ints) -> tuple[Ints, Bits]:
    """Count, between each two split points, the people in leaves that extend beyond them.

    Parameters
    ----------
    low, high : (boxes,) the first and the last value of each leaf, both included.
    people : (boxes,) the people in each leaf.
    cuts : (c,) ascending split points, each before the value of its number. The first and the last
        are the ends.
    held : (c - 1,) the people between a split point and the next.

    Returns
    -------
    beyond : (c, c), for split points i and j > i, the people between them in leaves that extend
        beyond i or j.
    some : (c, c) bool, whether some leaf lies on both sides of i or of j.

    Cost: O(boxes + c^2).
    """
    first = np.searchsorted(cuts, low, side="right") - 1
    last = np.searchsorted(cuts, high + 1)
    within = np.zeros((len(cuts), len(cuts)), dtype=np.int64)
    np.add.at(within, (first, last), people)
    within = np.cumsum(within[::-1], axis=0)[::-1].cumsum(axis=1)
    before = np.concatenate(([0], np.cumsum(held)))
    cut_through = np.zeros(len(cuts) + 1, dtype=np.int64)
    begins = np.searchsorted(cuts, low, side="right")  # the first split point inside a leaf
    ends = np.searchsorted(cuts, high, side="right")
    np.add.at(cut_through, begins, 1)
    np.add.at(cut_through, ends, -1)
    cuts_some = np.cumsum(cut_through)[:-1] > 0
    return before[None, :] - before[:, None] - within, cuts_some[:, None] | cuts_some


def choose_cuts(low: Ints, high: Ints, people: Ints, counts: Ints, least: int) -> Ints:
    """Return the split points between runs, and both ends, that imply no count below `least`.

    `counts` (values,) are people by value. Conflicting split points are removed one by one. The
    first to go is the one that misplaces the fewest people for each of its conflicts. Then removed
    split points are restored if possible. Cost: O(c^2) for c split points.
    """
    cuts = _candidates(counts)
    before = np.concatenate(([0], np.cumsum(counts)))[cuts]
    beyond, some = straddling(low, high, people, cuts, np.diff(before))
    clash = np.triu((before - before[:, None] < least) | (some & (beyond < least)), 1)
    kept = _apart(clash | clash.T, cuts, before)
    return np.asarray(cuts[kept])


def _apart(clash: Bits, cuts: Ints, before: Ints) -> Bits:
    """Return a mask of the kept split points: both ends, and others without conflicts."""
    kept = ~(clash[0] | clash[-1])
    kept[[0, -1]] = True
    clashes = clash[:, kept].sum(axis=1)
    while len(inner := np.flatnonzero(kept)[1:-1]) and clashes[inner].any():
        hidden = _count_misplaced(cuts[kept], before[kept])
        with np.errstate(divide="ignore"):
            worst = inner[np.argmin((hidden + 1) / clashes[inner])]
        kept[worst] = False
        clashes -= clash[:, worst]
    for cut in np.flatnonzero(~kept):
        kept[cut] = not clash[cut, kept].any()
    return np.asarray(kept)


def _count_misplaced(cuts: Ints, before: Ints) -> NDArray[np.float64]:
    """Return, by inner split point, how many people uniform values would misplace without it."""
    width, held = np.diff(cuts), np.diff(before)
    even = (held[:-1] + held[1:]) * width[:-1] / (width[:-1] + width[1:])
    return np.asarray(np.abs(held[:-1] - even))


def _candidates(counts: Ints) -> Ints:
    """Return the candidate split points: all, or those with about equally many people between."""
    if len(counts) <= MOST:
        return np.arange(len(counts) + 1)
    before = np.concatenate(([0], np.cumsum(counts)))
    even = np.searchsorted(before, np.linspace(0, before[-1], MOST + 1))
    return np.unique(np.concatenate([[0], even, [len(counts)]]))
