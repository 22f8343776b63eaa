"""Open addressing with linear probing: int64 keys to small integers, in one array of pairs.

A table is an int64 array of 2 * 2**bits; slot i holds its key at 2 i (-1 when free) and its
value at 2 i + 1. It must never be full.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.tables.kernels.compiled import compiled

FREE = -1
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
WORD = np.uint64(64)

Table = NDArray[np.int64]


@compiled
def home(key: int, bits: int) -> int:
    """Return the slot where `key` is looked for first.

    Blocks of 64 keys are scattered (Fibonacci hashing), and each block stays together: keys
    that differ by little, as neighbouring cells' do, share a cache line.
    """
    block = np.int64((np.uint64(key >> 6) * GOLDEN) >> (WORD - np.uint64(bits)))
    return (block + (key & 63)) & ((1 << bits) - 1)  # type: ignore[return-value]


@compiled
def find(table: Table, bits: int, key: int) -> int:
    """Return the slot of `key`, or the free slot where it belongs."""
    mask = (1 << bits) - 1
    slot = home(key, bits)
    while table[2 * slot] != key and table[2 * slot] != FREE:
        slot = (slot + 1) & mask
    return slot


@compiled
def remove(table: Table, bits: int, key: int) -> None:
    """Take `key` out and close the gap, so that no probe ends early."""
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


@compiled
def lookup(table: Table, bits: int, key: int) -> int:
    """Return the value of `key`, or -1 when it is not there."""
    slot = find(table, bits, key)
    return table[2 * slot + 1] if table[2 * slot] == key else -1


@compiled
def insert(table: Table, bits: int, key: int, value: int) -> None:
    """Put `key` in, or change its value."""
    slot = find(table, bits, key)
    table[2 * slot], table[2 * slot + 1] = key, value
