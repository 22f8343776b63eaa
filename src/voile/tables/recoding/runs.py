"""Choose runs of a column's values that may be counted in addition to released boxes.

An adversary who knows the people of each box and of each run can subtract. Some boxes reach into
some runs but not only into them. The subtraction gives the number of their people with a value in
these runs. By the theorem in the wing's README, the two imply no other counts. This module computes
them for each two cuts. Runs end only at cuts that imply no count of a few people or of nobody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bits = NDArray[np.bool_]
MOST = 1_024
"""Cuts that are tried in a column, at most."""


def straddling(low: Ints, high: Ints, people: Ints, cuts: Ints, held: Ints) -> tuple[Ints, Bits]:
    """Count, between each two cuts, the people in boxes that reach beyond; return if any do.

    Parameters
    ----------
    low, high : (boxes,) first and last value of each box, both included.
    people : (boxes,) how many each holds.
    cuts : (c,) rising, each before the value of its number; the first and the last are the ends.
    held : (c - 1,) people between a cut and the next.

    Returns
    -------
    (c, c) each, for cut i and cut j > i, on the boxes that lie between them in part. First, how
    many people of these boxes have their value there. Second, whether there are such boxes. Cost:
    O(boxes + c^2).
    """
    first = np.searchsorted(cuts, low, side="right") - 1
    last = np.searchsorted(cuts, high + 1)
    within = np.zeros((len(cuts), len(cuts)), dtype=np.int64)
    np.add.at(within, (first, last), people)
    within = np.cumsum(within[::-1], axis=0)[::-1].cumsum(axis=1)
    before = np.concatenate(([0], np.cumsum(held)))
    cut_through = np.zeros(len(cuts) + 1, dtype=np.int64)
    begins = np.searchsorted(cuts, low, side="right")  # the first cut inside a box
    ends = np.searchsorted(cuts, high, side="right")
    np.add.at(cut_through, begins, 1)
    np.add.at(cut_through, ends, -1)
    cuts_some = np.cumsum(cut_through)[:-1] > 0
    return before[None, :] - before[:, None] - within, cuts_some[:, None] | cuts_some


def choose_cuts(low: Ints, high: Ints, people: Ints, counts: Ints, least: int) -> Ints:
    """Return the cuts between runs, with the two ends, so that no count below `least` is implied.

    `counts` (values,) are people by value. Cuts that conflict with others are removed one by one.
    The first is the cut with the fewest people misplaced by its removal, for each of its conflicts.
    Then removed cuts come back if they can. Cost: O(c^2), c the cuts.
    """
    cuts = _candidates(counts)
    before = np.concatenate(([0], np.cumsum(counts)))[cuts]
    beyond, some = straddling(low, high, people, cuts, np.diff(before))
    clash = np.triu((before - before[:, None] < least) | (some & (beyond < least)), 1)
    kept = _apart(clash | clash.T, cuts, before)
    return np.asarray(cuts[kept])


def _apart(clash: Bits, cuts: Ints, before: Ints) -> Bits:
    """Return which cuts to keep: the ends, and others of which no two conflict."""
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
    """Return, by inner cut, how many people even values would misplace if it were not there."""
    width, held = np.diff(cuts), np.diff(before)
    even = (held[:-1] + held[1:]) * width[:-1] / (width[:-1] + width[1:])
    return np.asarray(np.abs(held[:-1] - even))


def _candidates(counts: Ints) -> Ints:
    """Return the cuts to choose from: all, or those that leave about as many people between."""
    if len(counts) <= MOST:
        return np.arange(len(counts) + 1)
    before = np.concatenate(([0], np.cumsum(counts)))
    even = np.searchsorted(before, np.linspace(0, before[-1], MOST + 1))
    return np.unique(np.concatenate([[0], even, [len(counts)]]))
