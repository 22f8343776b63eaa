"""Find a cell's number from its key: open addressing with linear probing, or a direct table.

A table is an int64 array. With `bits` > 0 it contains 2**bits pairs: slot i has its key at 2 i (-1
if free) and its number at 2 i + 1. It must never be full. With `bits` = 0 every key has its own
position, which contains its number or -1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel

FREE = -1
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
WORD = np.uint64(64)

Table = NDArray[np.int64]


@bare
def home(key: int | np.int64, bits: int) -> int:
    """Return the first slot to probe for `key` (Fibonacci hashing)."""
    return np.int64((np.uint64(key) * GOLDEN) >> (WORD - np.uint64(bits)))  # type: ignore[return-value]


@bare
def find(table: Table, bits: int, key: int | np.int64) -> int:
    """Return the slot of `key`, or the free slot where it belongs."""
    mask = (1 << bits) - 1
    slot = home(key, bits)
    while table[2 * slot] != key and table[2 * slot] != FREE:
        slot = (slot + 1) & mask
    return slot


@compile_kernel
def lookup(table: Table, bits: int, key: int) -> int:
    """Return the number of `key`, or -1 if it is not in the table."""
    if bits == 0:
        return int(table[key])
    slot = find(table, bits, key)
    return int(table[2 * slot + 1]) if table[2 * slot] == key else FREE


@compile_kernel
def insert(table: Table, bits: int, key: int, number: int) -> None:
    """Insert `key`, or change its number."""
    if bits == 0:
        table[key] = number
        return
    slot = find(table, bits, key)
    table[2 * slot], table[2 * slot + 1] = key, number


@compile_kernel
def remove(table: Table, bits: int, key: int) -> None:
    """Remove `key` and close the gap, so that no probe ends early."""
    if bits == 0:
        table[key] = FREE
        return
    mask = (1 << bits) - 1
    gap = find(table, bits, key)
    slot = (gap + 1) & mask
    while table[2 * slot] != FREE:
        wanted = home(table[2 * slot], bits)
        if ((slot - wanted) & mask) >= ((slot - gap) & mask):
            table[2 * gap] = table[2 * slot]
            table[2 * gap + 1] = table[2 * slot + 1]
            gap = slot
        slot = (slot + 1) & mask
    table[2 * gap] = FREE
