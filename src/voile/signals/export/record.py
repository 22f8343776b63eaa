"""The record of one small device: whose it is, its class and its key, in bytes of one length."""

from __future__ import annotations

import struct
from math import nan

import numpy as np

from voile.data.files.outputs import DEVICE_RECORD
from voile.signals.channel.keys import Enrolled
from voile.signals.codec.place import Place
from voile.signals.codec.side import NameLevels, SideColumn, is_missing
from voile.signals.sequences.sequence_codec import SequenceCodec
from voile.signals.sequences.state import Cell, Known

NAME = 64  # bytes that a pseudonym has room in


def device_record(
    enrolled: Enrolled, codec: SequenceCodec, which: int, known: tuple[Cell, ...] = ()
) -> bytes:
    """Return what a device is given apart from its program; the class is in it and nowhere else.

    Magic, map, generation, number of the class, length of the pseudonym, pseudonym, key; where the
    map takes side columns, these as an end reads them, and their proof; and the MAC of all these
    under the key itself.
    """
    codec.law(which, known)  # refuses side columns that the map does not take
    name, key = enrolled.pseudonym.encode(), enrolled.key
    numbers = b"".join(n.to_bytes(2, "big") for n in (key.generation, which))
    body = DEVICE_RECORD + bytes.fromhex(codec.mark) + numbers
    body += bytes([len(name)]) + name.ljust(NAME, b"\0")
    body += bytes.fromhex(key.hex())
    columns = zip(codec.codec.side, known, strict=True)
    body += b"".join(struct.pack("<d", number_of(column, cell)) for column, cell in columns)
    body += Known.of(codec, known, key.known()).proof
    return body + key.mac(b"device", body)


def number_of(column: SideColumn, cell: Cell) -> float:
    """Return a side column's cell as an end reads it: names by their level, what is missing NaN."""
    if is_missing(cell):
        return nan
    if isinstance(column, NameLevels):
        return float(column.read(np.array([cell], dtype=object), Place())[0][0])
    return float(cell)  # type: ignore[arg-type]
