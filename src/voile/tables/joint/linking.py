"""Link the rows of two releases of a table through the columns that both keep."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from voile.ledger.linking import GroupPairs, linked_matches
from voile.tables.joint.figures import JoinedReleases, Labels, ShownRelease
from voile.tables.policies.counted_space import CountedSpace


def count_linked_matches(
    space: CountedSpace,
    combination: Labels,
    first: ShownRelease,
    second: ShownRelease,
    shared: Sequence[Labels],
) -> float:
    """Return the expected matches of an adversary who links either release to the other.

    The result is the larger of the two directions. A row that one release suppresses is not linked.

    Parameters
    ----------
    combination : (rows,) the combination of each row in the space.
    shared : (rows,) labels, for each column that both releases keep.
    """
    key = np.zeros(len(combination), np.int64)
    for own in shared:
        both = np.unique(own, return_inverse=True)[1]
        key = np.unique(key * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1]
    one, other = JoinedReleases(space, [first]), JoinedReleases(space, [second])
    return max(
        _from(space, combination, one, other, key), _from(space, combination, other, one, key)
    )


def _from(
    space: CountedSpace,
    combination: Labels,
    one: JoinedReleases,
    other: JoinedReleases,
    key: Labels,
) -> float:
    a, shown = one.groups
    b, seen = other.groups
    people = np.maximum(space.counts.population, space.counts.sample)
    alone = _sums(a, people)
    both = shown & seen
    size = int(b.max(initial=0)) + 1
    pairs, number = np.unique((a * size + b)[both], return_inverse=True)
    rows = combination[both[combination]]
    found = 0.0
    if len(rows):
        known = GroupPairs(pairs // size, pairs % size, _sums(number, people[both]))
        found = linked_matches(a[rows], b[rows], key[both[combination]], alone, known)
    rest = combination[(shown & ~seen)[combination]]
    return found + float((1.0 / alone[a[rest]]).sum())


def _sums(number: Labels, people: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.bincount(number, people), dtype=np.float64)
