"""Find runs of base64 or hexadecimal digits that decode to text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.gate.values.kernels.tokens import Bytes, Places

BASE64, HEX = 1, 2
LEAST = 6
"""The number of characters of the shortest run."""
NONE = 255


def _table(letters: str) -> Bytes:
    table = np.full(256, NONE, np.uint8)
    table[np.frombuffer(letters.encode(), np.uint8)] = np.arange(len(letters))
    return table


_PLAIN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_HEX = _table("0123456789abcdef")
_HEX[ord("A") : ord("F") + 1] = np.arange(10, 16)
TABLES = np.stack([_table(_PLAIN), _table(_PLAIN + "+/"), _table(_PLAIN + "-_"), _HEX])
"""The digit tables.

A run of the second or third counts only with a character unknown to the first.
"""


@compile_kernel
def find_encoded(
    data: Bytes, offsets: Places, to: Bytes, ends: Places, cells: NDArray[np.int32], kinds: Bytes
) -> int:
    """Write the bytes, end, cell and encoding of each run that decodes to text.

    Returns the number of runs. Runs beyond the capacity of `ends` are counted but not written.
    """
    count, end = 0, 0
    for cell in range(len(offsets) - 1):
        for table in range(len(TABLES)):
            digits, bits = TABLES[table], 4 if table == 3 else 6
            start, is_special = offsets[cell], False
            for place in range(offsets[cell], offsets[cell + 1] + 1):
                digit = digits[data[place]] if place < offsets[cell + 1] else np.uint8(NONE)
                if digit != NONE:
                    is_special = is_special or bool(digit >= 62)
                    continue
                size = _decode(data, start, place, digits, bits, to, end)
                if size and (table in (0, 3) or is_special):
                    if count < len(ends):
                        end += size
                        ends[count], cells[count] = end, cell
                        kinds[count] = HEX if table == 3 else BASE64
                    count += 1
                start, is_special = place + 1, False
    return count


@bare
def _decode(
    data: Bytes, start: int, stop: int, digits: Bytes, bits: int, to: Bytes, end: int
) -> int:
    """Decode one run into `to`, starting at `end`; return the number of bytes of text, or 0."""
    size = stop - start
    if size < LEAST or (size % 2 if bits == 4 else size % 4 == 1):
        return 0
    size = size * bits // 8
    if end + size > len(to):
        return 0
    held, filled, count, following = 0, 0, 0, 0
    low, high = 0x80, 0xBF
    for place in range(start, stop):
        held, filled = (held << bits | digits[data[place]]) & 0xFFFF, filled + bits
        if filled < 8:
            continue
        filled -= 8
        byte = held >> filled & 0xFF
        if following:
            if not low <= byte <= high:
                return 0
            following, low, high = following - 1, 0x80, 0xBF
        elif 0xC2 <= byte <= 0xF4:  # UTF-8, without overlong forms and surrogates
            following = 1 + (byte >= 0xE0) + (byte >= 0xF0)
            low = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
            high = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
        elif byte >= 0x7F or (byte < 0x20 and byte not in (9, 10, 13)):
            return 0
        to[end + count] = byte
        count += 1
    return 0 if following else count
