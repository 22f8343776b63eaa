"""Find the keys of values and of texts, as slices of the canonical bytes.

A found key is a row of `Found`: start, end, cell, form, number of tokens, and whether the key is
the whole cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.compiled import bare, compile_kernel
from voile.gate.values.kernels.tokens import (
    DIGIT,
    KINDS,
    OFFSET,
    Bytes,
    Places,
    add_byte,
    has_bit,
    slot_of,
)

Found = NDArray[np.int64]
"""Found keys, (capacity, 6)."""

MOST = 6
"""The number of tokens of the longest key."""
LEAST, LEAST_NUMBER = 3, 2
"""The number of bytes of the shortest key, and of digits of the shortest whole number."""
LEAST_GLUED, MOST_GLUED = 5, 40
"""The smallest and the largest number of bytes of a key within a longer token of letters."""
LEAST_DIGITS = 5
"""The number of digits of the shortest number that is searched without its surrounding letters."""
WHOLE, PART, DIGITS, PASSAGE, DATE, GLUED = range(6)


@bare
def _put_key(
    found: Found, count: int, start: int, end: int, cell: int, form: int, tokens: int, whole: int
) -> int:
    """Write one key if there is room; return the number of keys, including this one."""
    if count < len(found):
        found[count, 0], found[count, 1], found[count, 2] = start, end, cell
        found[count, 3], found[count, 4], found[count, 5] = form, tokens, whole
    return count + 1


@bare
def _is_number(canonical: Bytes, starts: Places, token: int) -> bool:
    return bool(KINDS[canonical[starts[token]]] == DIGIT)


@bare
def _is_long(canonical: Bytes, starts: Places, first: int, end: int) -> bool:
    """Return whether some tokens are long enough for a key, such as an age of two digits."""
    is_number = end - first == 1 and _is_number(canonical, starts, first)
    return bool(starts[end] - starts[first] >= (LEAST_NUMBER if is_number else LEAST))


@compile_kernel
def find_value_keys(
    canonical: Bytes, starts: Places, cells: NDArray[np.int32], found: Found
) -> int:
    """Write the keys of values (whole, parts, digits, passages), and return their number."""
    count, first, tokens = 0, 0, len(cells)
    while first < tokens:
        last, cell = first, cells[first]
        while last < tokens and cells[last] == cell:
            last += 1
        n = last - first
        if n <= MOST:
            if _is_long(canonical, starts, first, last):
                count = _put_key(found, count, starts[first], starts[last], cell, WHOLE, n, 1)
        else:
            for start in range(first, last - MOST, MOST):
                count = _put_key(
                    found, count, starts[start], starts[start + MOST], cell, PASSAGE, MOST, 0
                )
            count = _put_key(
                found, count, starts[last - MOST], starts[last], cell, PASSAGE, MOST, 0
            )
        if n <= MOST:
            count = _find_parts(canonical, starts, first, last, cell, found, count)
        first = last
    return count


@bare
def _find_parts(
    canonical: Bytes, starts: Places, first: int, last: int, cell: int, found: Found, count: int
) -> int:
    """Write the words and the numbers of one value, and the numbers without their leading zeros."""
    token = first
    while token < last:
        end = token + 1
        if not _is_number(canonical, starts, token):
            if last - first > 1 and starts[end] - starts[token] >= LEAST:
                count = _put_key(found, count, starts[token], starts[end], cell, PART, 1, 0)
            token = end
            continue
        while end < last and _is_number(canonical, starts, end):
            end += 1
        start = starts[token]
        if end - token < last - first and starts[end] - start >= LEAST_DIGITS:
            count = _put_key(found, count, start, starts[end], cell, DIGITS, end - token, 0)
        while start < starts[end] and canonical[start] == ord("0"):
            start += 1
        if starts[token] < start and starts[end] - start >= LEAST_DIGITS:
            count = _put_key(found, count, start, starts[end], cell, DIGITS, end - token, 0)
        token = end
    return count


@compile_kernel
def find_text_keys(
    canonical: Bytes,
    starts: Places,
    cells: NDArray[np.int32],
    hidden: NDArray[np.bool_],
    bitmap: Bytes,
    bits: int,
    found: Found,
) -> int:
    """Write each sequence of tokens that may be in the filter of the values' keys.

    hidden : the tokens within a quoted label. No key starts or ends with a hidden token.
    """
    count, tokens = 0, len(cells)
    for first in range(tokens):
        if hidden[first]:
            continue
        opens = first == 0 or cells[first - 1] != cells[first]
        digest, start = OFFSET, starts[first]
        for last in range(first, min(first + MOST, tokens)):
            if cells[last] != cells[first]:
                break
            for place in range(starts[last], starts[last + 1]):
                digest = add_byte(digest, canonical[place])
            end = starts[last + 1]
            is_long = _is_long(canonical, starts, first, last + 1)
            if hidden[last] or not is_long or not has_bit(bitmap, slot_of(digest, bits)):
                continue
            closes = last + 1 == tokens or cells[last + 1] != cells[first]
            whole = 1 if opens and closes else 0
            count = _put_key(found, count, start, end, cells[first], WHOLE, last - first + 1, whole)
        if canonical[start] == ord("0"):
            count = _find_unpadded(canonical, starts, cells, first, bitmap, bits, found, count)
    return count


@bare
def _find_unpadded(
    canonical: Bytes,
    starts: Places,
    cells: NDArray[np.int32],
    token: int,
    bitmap: Bytes,
    bits: int,
    found: Found,
    count: int,
) -> int:
    """Write a number without its leading zeros."""
    start, end = starts[token], starts[token + 1]
    while start < end and canonical[start] == ord("0"):
        start += 1
    if end - start < LEAST_DIGITS:
        return count
    digest = OFFSET
    for place in range(start, end):
        digest = add_byte(digest, canonical[place])
    if has_bit(bitmap, slot_of(digest, bits)):
        return _put_key(found, count, start, end, cells[token], DIGITS, 1, 0)
    return count


@compile_kernel
def find_glued_keys(
    canonical: Bytes,
    starts: Places,
    cells: NDArray[np.int32],
    hidden: NDArray[np.bool_],
    bitmap: Bytes,
    bits: int,
    found: Found,
) -> int:
    """Write each piece of a longer token of letters that may be in the values' filter."""
    count = 0
    for token in range(len(cells)):
        first, last = starts[token], starts[token + 1]
        if last - first <= LEAST_GLUED or hidden[token] or KINDS[canonical[first]] == DIGIT:
            continue
        for start in range(first, last - LEAST_GLUED + 1):
            if canonical[start] & 0xC0 == 0x80:
                continue
            digest = OFFSET
            for end in range(start + 1, min(last, start + MOST_GLUED) + 1):
                digest = add_byte(digest, canonical[end - 1])
                if end - start < LEAST_GLUED or (start == first and end == last):
                    continue
                if end < last and canonical[end] & 0xC0 == 0x80:
                    continue
                if has_bit(bitmap, slot_of(digest, bits)):
                    count = _put_key(found, count, start, end, cells[token], GLUED, 1, 0)
    return count


@compile_kernel
def hide_labels(
    canonical: Bytes,
    starts: Places,
    cells: NDArray[np.int32],
    labels: Bytes,
    offsets: Places,
    digests: NDArray[np.uint64],
    hidden: NDArray[np.bool_],
) -> None:
    """Mark the tokens of every quoted label of two or more tokens as hidden.

    labels, offsets : the labels' keys, by ascending digest.
    """
    for first in range(len(cells)):
        digest = OFFSET
        for last in range(first, min(first + MOST, len(cells))):
            if cells[last] != cells[first]:
                break
            for place in range(starts[last], starts[last + 1]):
                digest = add_byte(digest, canonical[place])
            if last == first:
                continue
            n = np.searchsorted(digests, digest)
            while n < len(digests) and digests[n] == digest:
                size = offsets[n + 1] - offsets[n]
                same = size == starts[last + 1] - starts[first]
                for place in range(size if same else 0):
                    same &= canonical[starts[first] + place] == labels[offsets[n] + place]
                if same:
                    hidden[first : last + 1] = True
                n += 1


@compile_kernel
def digest_keys(data: Bytes, offsets: Places) -> NDArray[np.uint64]:
    """Return the digest of each key."""
    digests = np.empty(len(offsets) - 1, np.uint64)
    for n in range(len(digests)):
        digest = OFFSET
        for place in range(offsets[n], offsets[n + 1]):
            digest = add_byte(digest, data[place])
        digests[n] = digest
    return digests
