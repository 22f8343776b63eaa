"""Group equal rows of a 0/1 matrix, and convert its rows to columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import compile_kernel, inner

Starts = NDArray[np.int64]
Items = NDArray[np.int32]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


@inner
def _hash(items: Items) -> np.uint64:
    value = GOLDEN
    for item in items:
        value = (value ^ np.uint64(item)) * GOLDEN
        value ^= value >> HALF
    return value


@inner
def _same(a: Items, b: Items) -> bool:
    return len(a) == len(b) and bool((a == b).all())


@compile_kernel
def distinct(starts: Starts, items: Items) -> tuple[Items, Starts]:
    """Number the distinct rows (patterns) in order of first occurrence.

    Hashes only speed up the search. Rows with equal hashes are still compared.

    Returns
    -------
    The pattern of each row, and the first row of each pattern.
    """
    rows = len(starts) - 1
    bits = 1
    while 1 << bits < 2 * rows:
        bits += 1
    mask, shift = (1 << bits) - 1, np.uint64(64 - bits)
    table = np.full(1 << bits, -1, dtype=np.int32)
    hashes = np.empty(rows, dtype=np.uint64)
    first = np.empty(rows, dtype=np.int64)
    pattern = np.empty(rows, dtype=np.int32)
    patterns = 0
    for r in range(rows):
        row = items[starts[r] : starts[r + 1]]
        value = _hash(row)
        slot = np.int64((value * GOLDEN) >> shift)
        while True:
            p = table[slot]
            if p < 0:
                table[slot] = patterns
                hashes[patterns], first[patterns] = value, r
                pattern[r] = patterns
                patterns += 1
                break
            if hashes[p] == value and _same(row, items[starts[first[p]] : starts[first[p] + 1]]):
                pattern[r] = p
                break
            slot = (slot + 1) & mask
    return pattern, first[:patterns].copy()


@compile_kernel
def take(starts: Starts, items: Items, rows: Starts, place: Items) -> tuple[Starts, Items]:
    """Return the given rows with each item i renumbered as place[i].

    `place` should rise, so that the items of a row stay in order. Items with a negative place are
    removed.
    """
    kept = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        total = 0
        for at in range(starts[rows[i]], starts[rows[i] + 1]):
            total += place[items[at]] >= 0
        kept[i + 1] = kept[i] + total
    taken = np.empty(kept[-1], dtype=np.int32)
    end = 0
    for i in range(len(rows)):
        for at in range(starts[rows[i]], starts[rows[i] + 1]):
            item = place[items[at]]
            if item >= 0:
                taken[end] = item
                end += 1
    return kept, taken


@compile_kernel
def columns(starts: Starts, items: Items, features: int) -> tuple[Starts, Items]:
    """Return the rows that have each feature, in rising order, as offsets and row numbers."""
    begins = np.zeros(features + 1, dtype=np.int64)
    for item in items:
        begins[item + 1] += 1
    for x in range(features):
        begins[x + 1] += begins[x]
    holders = np.empty(len(items), dtype=np.int32)
    end = begins[:-1].copy()
    for r in range(len(starts) - 1):
        for at in range(starts[r], starts[r + 1]):
            holders[end[items[at]]] = r
            end[items[at]] += 1
    return begins, holders
