"""An adversary who links the rows of two releases through their common columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voile.core.brief import BriefRepr

Labels = NDArray[np.int64]
MOST = 4_000_000
"""The largest number of pairs of groups that one step processes."""


@dataclass(frozen=True, eq=False)
class GroupPairs(BriefRepr):
    """The pairs of groups of two releases that at least one person can be in.

    first, second : (pairs,), the group in each release.
    people : (pairs,), the number of people in both groups.
    """

    shows = ()

    first: Labels
    second: Labels
    people: NDArray[np.float64]


def linked_matches(
    first: Labels, second: Labels, shared: Labels, alone: NDArray[np.float64], pairs: GroupPairs
) -> float:
    """Return the expected matches of an adversary who links each row of one release to the other.

    The adversary has both releases and knows how many people are in each group. For a row of the
    first release, the candidates are rows of the second with the same shared values. Some person of
    the row's own group must be able to be in the candidate's group. All candidates are equally
    likely. The adversary guesses the most promising second group, or does not link if that promises
    more. The guess is scored against the true links.

    Parameters
    ----------
    first, second : (rows,), the group of each row in each release.
    shared : (rows,), a code for the values of each row that both releases contain.
    alone : (groups of the first release,), the number of people in each group.
    pairs : the pairs of groups that a person can be in.

    Returns
    -------
    float : at most the expected matches with every row linked.
    """
    own, own_of = _pairs_of(first, shared)
    there, there_of = _pairs_of(shared, second)
    rows_there = np.bincount(there_of, minlength=len(there)).astype(np.float64)
    truth = _sorted_counts(own_of, there_of, len(there))
    key = pairs.first * (int(second.max(initial=0)) + 1) + pairs.second
    order = np.argsort(key)
    known, people = key[order], pairs.people[order]
    starts = np.searchsorted(there[:, 0], own[:, 1], "left")
    sizes = np.searchsorted(there[:, 0], own[:, 1], "right") - starts
    matches, begin = 0.0, 0
    ends = np.cumsum(sizes)
    while begin < len(own):
        done = ends[begin - 1] if begin else 0
        end = max(int(np.searchsorted(ends, done + MOST, "right")), begin + 1)
        part = slice(begin, end)
        of = np.repeat(np.arange(begin, end), sizes[part])
        step = np.arange(len(of)) - np.repeat(ends[part] - sizes[part] - done, sizes[part])
        at = np.repeat(starts[part], sizes[part]) + step
        pair = own[of, 0] * (int(second.max(initial=0)) + 1) + there[at, 1]
        place = np.minimum(np.searchsorted(known, pair), len(known) - 1)
        fits = known[place] == pair
        of, at, both = of[fits], at[fits], people[place[fits]]
        matches += _score_guesses(of, at, both, rows_there, own, own_of, alone, truth, begin, end)
        begin = end
    return matches


def _score_guesses(
    of: Labels,
    at: Labels,
    both: NDArray[np.float64],
    rows_there: NDArray[np.float64],
    own: Labels,
    own_of: Labels,
    alone: NDArray[np.float64],
    truth: Any,
    begin: int,
    end: int,
) -> float:
    """Score the best guess for each kind of row of the first release, from `begin` to `end`."""
    weight = rows_there[at]
    total = np.bincount(of - begin, weight, end - begin)
    promise = weight / total[of - begin] / both
    best = np.lexsort((promise, of))
    last = np.flatnonzero(np.diff(np.append(of[best], -1)))
    kind, guess = of[best][last], at[best][last]
    links = promise[best][last] > 1.0 / alone[own[kind, 0]]
    found = truth(kind[links], guess[links]) / both[best][last][links]
    many = np.bincount(own_of, minlength=len(own))[begin:end].astype(np.float64)
    many[kind[links] - begin] = 0.0
    return float(found.sum() + (many / alone[own[begin:end, 0]]).sum())


def _pairs_of(one: Labels, other: Labels) -> tuple[Labels, Labels]:
    """Return the sorted distinct pairs of two labels, and the number of each row's pair."""
    size = int(other.max(initial=0)) + 1
    distinct, number = np.unique(one * size + other, return_inverse=True)
    return np.column_stack([distinct // size, distinct % size]), number


def _sorted_counts(one: Labels, other: Labels, size: int) -> Any:
    """Return a function that counts the rows of given pairs."""
    distinct, counts = np.unique(one * size + other, return_counts=True)

    def count(first: Labels, second: Labels) -> NDArray[np.float64]:
        asked = first * size + second
        place = np.minimum(np.searchsorted(distinct, asked), len(distinct) - 1)
        return np.where(distinct[place] == asked, counts[place], 0).astype(np.float64)

    return count
