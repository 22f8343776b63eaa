"""Values by whose they are: a document meets those of its subject, and those known to all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]

EVERYONE, NOBODY = 0, -1
"""The owner of values known to every document; that of a document whose subject is in no table."""

BASE = 0x9E3779B97F4A7C15
"""Odd: the code of some characters is a polynomial of them in it, modulo 2^64."""


def runs(first: Longs, many: Longs) -> Longs:
    """Return many[i] whole numbers from first[i] on, for one i after the other.

    >>> runs(np.array([5, 0]), np.array([2, 3]))
    array([5, 6, 0, 1, 2])
    """
    before = np.cumsum(many) - many
    return np.asarray(np.arange(many.sum()) + np.repeat(first - before, many), dtype=np.int64)


class FoundValue(NamedTuple):
    """A value in a text: the document, its characters, and the number of the value."""

    document: int
    start: int
    end: int
    item: int


class OwnedKeys:
    """Look up an owner's items under a key.

    Parameters
    ----------
    entries : owner, key and item, again and again; several items may be under the same.
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
        """Return which of n queries meet which items: two arrays of as many entries.

        Query i meets the items of the owner whose[i] and those of everyone. Cost: O(n log keys).
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
