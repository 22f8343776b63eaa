"""Sets stored as bits, 64 to a word."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import inner

Words = NDArray[np.uint64]

ONE = np.uint64(1)
NONE = np.uint64(0)
PAIRS, FOURS, EIGHTS, BYTES = (
    np.uint64(0x0101010101010101 * byte) for byte in (0x55, 0x33, 0x0F, 0x01)
)


@inner
def has(bits: Words, x: int) -> bool:
    return bool((bits[x >> 6] >> np.uint64(x & 63)) & ONE)


@inner
def clear(bits: Words, x: int) -> None:
    bits[x >> 6] &= ~(ONE << np.uint64(x & 63))


@inner
def count(word: np.uint64) -> np.uint64:
    """Count the bits of a word that are set.

    The bits are added in pairs, in groups of four and of eight, and then over all eight bytes at
    once.
    """
    word -= (word >> ONE) & PAIRS
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    word = (word + (word >> np.uint64(4))) & EIGHTS
    return (word * BYTES) >> np.uint64(56)


@inner
def first_of(word: np.uint64) -> int:
    return int(count((word & (~word + ONE)) - ONE))
