"""Split cells into tokens: maximal runs of letters or of digits, without separators.

`canonical` contains the bytes of all tokens in order, so a token ends where the next token begins.
A sequence of tokens is a slice of it, called a *key*: "555-506 2217" and "5555062217" have the same
key.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]

SEPARATOR, LETTER, DIGIT = 0, 1, 2
KINDS = np.zeros(256, np.uint8)
KINDS[ord("a") : ord("z") + 1] = KINDS[ord("A") : ord("Z") + 1] = KINDS[128:] = LETTER
KINDS[ord("0") : ord("9") + 1] = DIGIT
LOWER = np.arange(256, dtype=np.uint8)
LOWER[ord("A") : ord("Z") + 1] += 32

OFFSET, PRIME, MIX = (
    np.uint64(0xCBF29CE484222325),
    np.uint64(0x100000001B3),
    np.uint64(0x9E3779B97F4A7C15),
)
WORD, HALF = np.uint64(64), np.uint64(32)


@compile_kernel
def split_tokens(
    data: Bytes, offsets: Places, canonical: Bytes, starts: Places, cells: NDArray[np.int32]
) -> int:
    """Write the tokens of all cells, and return the number of tokens.

    data, offsets : the folded cells.
    canonical : the output bytes, at least as long as `data`.
    starts : the start of each token in `canonical`, and the end of the last token.
    cells : the cell of each token.
    """
    count, end = 0, np.int64(0)
    for cell in range(len(offsets) - 1):
        before = SEPARATOR
        for place in range(offsets[cell], offsets[cell + 1]):
            byte = data[place]
            kind = KINDS[byte]
            if kind != SEPARATOR:
                if kind != before:
                    starts[count], cells[count] = end, cell
                    count += 1
                canonical[end] = LOWER[byte]
                end += 1
            before = kind
    starts[count] = end
    return count


@compile_kernel
def count_tokens(data: Bytes, offsets: Places) -> int:
    """Return the number of tokens in the cells."""
    count = 0
    for cell in range(len(offsets) - 1):
        before = SEPARATOR
        for place in range(offsets[cell], offsets[cell + 1]):
            kind = KINDS[data[place]]
            count += kind not in (SEPARATOR, before)
            before = kind
    return count


@bare
def add_byte(digest: np.uint64, byte: np.uint8) -> np.uint64:
    """Return the digest of a key with one more byte (FNV-1a)."""
    return (digest ^ np.uint64(byte)) * PRIME


@bare
def slot_of(digest: np.uint64, bits: int) -> np.uint64:
    """Return the number of a key's bit in a filter of 2**bits bits."""
    mixed = (digest ^ (digest >> HALF)) * MIX
    return mixed >> (WORD - np.uint64(bits))


@bare
def has_bit(bitmap: Bytes, slot: np.uint64) -> bool:
    """Return whether the bit of a slot is set in a filter."""
    return bool(bitmap[slot >> np.uint64(3)] >> np.uint8(slot & np.uint64(7)) & 1)


@compile_kernel
def add_keys(data: Bytes, starts: Places, ends: Places, bitmap: Bytes, bits: int) -> None:
    """Add keys, given as slices of `data`, to a filter."""
    for n in range(len(starts)):
        digest = OFFSET
        for place in range(starts[n], ends[n]):
            digest = add_byte(digest, data[place])
        slot = slot_of(digest, bits)
        bitmap[slot >> np.uint64(3)] |= np.uint8(1) << np.uint8(slot & np.uint64(7))


@compile_kernel
def test_keys(
    data: Bytes, starts: Places, ends: Places, bitmap: Bytes, bits: int
) -> NDArray[np.bool_]:
    """Return which keys may be in a filter: every added key, and a few others by chance."""
    found = np.zeros(len(starts), np.bool_)
    for n in range(len(starts)):
        digest = OFFSET
        for place in range(starts[n], ends[n]):
            digest = add_byte(digest, data[place])
        found[n] = has_bit(bitmap, slot_of(digest, bits))
    return found


@compile_kernel
def gather(data: Bytes, starts: Places, ends: Places, to: Bytes, backwards: bool) -> None:
    """Copy slices in order; `backwards` reverses the characters after the first of each slice."""
    end = 0
    for n in range(len(starts)):
        if not backwards:
            for place in range(starts[n], ends[n]):
                to[end] = data[place]
                end += 1
            continue
        opening = starts[n] + 1
        while opening < ends[n] and data[opening] & 0xC0 == 0x80:
            opening += 1
        for place in range(starts[n], opening):
            to[end] = data[place]
            end += 1
        last = ends[n]
        while last > opening:
            first = last - 1
            while first > opening and data[first] & 0xC0 == 0x80:
                first -= 1
            for place in range(first, last):
                to[end] = data[place]
                end += 1
            last = first
