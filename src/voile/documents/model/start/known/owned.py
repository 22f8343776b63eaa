"""Look up values by owner: a document matches the values of its subject, and those known to all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

EVERYONE, NOBODY = 0, -1
"""The owner of values known to every document, and of a document with a subject in no table."""

BASE = 0x9E3779B97F4A7C15
"""The odd base of the polynomial hash of characters, modulo 2^64."""


def runs(first: Longs, many: Longs) -> Longs:
    """Return the concatenated ranges of many[i] integers starting at first[i].

    >>> runs(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(many) - many
    return np.asarray(np.arange(many.sum()) + np.repeat(first - before, many), dtype=np.int64)


class FoundValue(NamedTuple):
    """A value in a text: the document, its offsets, and the number of the value."""

    document: int
    start: int
    end: int
    item: int


class OwnedKeys:
    """A lookup of an owner's items under a key.

    Parameters
    ----------
    entries : a flat sequence of owner, key and item. Several items may have the same key.
    """

    def __init__(self, entries: Sequence[int]) -> None:
        owner, key, item = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        self.keys, place = np.unique(key, return_inverse=True)
        codes = self._code(owner, place)
        order = np.lexsort((item, codes))
        once = np.ones(len(order), dtype=np.bool_)
        once[1:] = (np.diff(codes[order]) > 0) | (np.diff(item[order]) > 0)
        self._codes, self._items = codes[order[once]], item[order[once]]

    def _code(self, owners: Longs, places: Longs) -> Longs:
        return np.asarray(owners * len(self.keys) + places, dtype=np.int64)

    def meet(self, whose: Longs, keys: Longs) -> tuple[Longs, Longs]:
        """Return the matching pairs of queries and items, as two arrays of the same length.

        Query i matches the items of the owner whose[i] and those of everyone. Cost: O(n log keys).
        """
        if not len(self.keys):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = np.flatnonzero(self.keys[place] == keys)
        both = np.concatenate([whose[known], np.full(len(known), EVERYONE)])
        asked = np.concatenate([known, known])[both >= 0]
        codes = self._code(both[both >= 0], place[asked])
        first, last = (np.searchsorted(self._codes, codes, side) for side in ("left", "right"))
        return np.repeat(asked, last - first), self._items[runs(first, last - first)]
