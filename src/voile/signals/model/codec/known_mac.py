"""MACs of messages and of the side columns that they were encoded with.

A message decodes to some reading under any side columns. A birthday in between, a typo or a missing
value would therefore give a wrong reading without an error. The MAC covers the sender's side
columns, which the message does not contain. A recipient with different side columns refuses the
row. Without the key, a MAC reveals nothing.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from voile.signals.model.codec.side import SideColumn, side_table

LENGTH = 32  # hexadecimal digits (128 bits)


class KnownMac:
    """The MACs of messages and their side columns, under a key that client and server share.

    >>> from voile.signals.model.codec.side import NameLevels
    >>> mac = KnownMac((NameLevels(np.array(["f", "m"])),))
    >>> sent, typo = (mac.tags([b"key"], ["p1"], [[k]], [[0.5]]) for k in "fm")
    >>> sent == typo, len(sent[0])
    (False, 32)
    """

    def __init__(self, side: Sequence[SideColumn]) -> None:
        self._side = tuple(side)

    def tags(
        self,
        keys: Sequence[bytes],
        names: Sequence[str],
        known: ArrayLike,
        Z: ArrayLike,
    ) -> list[str]:
        """Return the tag of each row, from its key, subject, side columns and message."""
        table = side_table(known, len(keys))
        cells = zip(*(one.canonical(table[:, j]) for j, one in enumerate(self._side)), strict=True)
        rows = zip(keys, names, cells, np.asarray(Z).tolist(), strict=True)
        return [
            hmac.digest(
                key, b"".join(_frame_parts([name.encode(), *k, *map(_encode_value, z)])), "sha256"
            ).hex()[:LENGTH]
            for key, name, k, z in rows
        ]


def known_proof(key: bytes, side: Sequence[SideColumn], cells: Sequence[object]) -> bytes:
    """Return 32 bytes that are equal if the key and the side columns are equal."""
    pairs = zip(side, cells, strict=False)  # the map itself refuses a wrong number of cells
    parts = [one.canonical(np.array([cell], dtype=object))[0] for one, cell in pairs]
    return hmac.digest(key, b"".join(_frame_parts([b"known columns", *parts])), "sha256")


def _frame_parts(parts: Sequence[bytes]) -> Iterator[bytes]:
    """Prefix each part with its length, so that no two rows have the same encoding."""
    for part in parts:
        yield struct.pack(">I", len(part))
        yield part


def _encode_value(value: float | str) -> bytes:
    return value.encode() if isinstance(value, str) else struct.pack("<d", value + 0.0)
