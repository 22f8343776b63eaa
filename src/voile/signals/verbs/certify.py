"""Check that a written release decodes to its original readings, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from voile.core.errors import TamperedError
from voile.data import Source
from voile.release.manifest import ROW
from voile.signals.model.codec.codec import Codec
from voile.signals.model.codec.side import SideLevels
from voile.signals.model.readings.forms import ReadingColumn
from voile.signals.model.readings.sources import SignalReader

ODD = np.uint64(0x9E3779B97F4A7C15)  # bits of the golden ratio, without a short pattern


@dataclass
class SignalsCertificate:
    classes: list[NDArray[np.int16]] = field(default_factory=list)
    levels: list[SideLevels] = field(default_factory=list)
    sum: int = 0
    rows: int = 0

    def add(
        self,
        numbers: NDArray[np.int64],
        sent: NDArray[np.int64],
        which: NDArray[np.intp],
        table: NDArray[Any],
        at: SideLevels,
    ) -> None:
        """Add a batch: its rows, the sent ones, their classes, readings and levels."""
        codes = np.zeros(len(numbers), np.int16)  # rows that are not sent are never looked up
        codes[sent - numbers[0]] = which
        self.classes.append(codes)
        self.levels.append(at.spread_rows(sent - numbers[0], len(numbers)))
        self.sum = fingerprint(sent, table, self.sum)
        self.rows += len(sent)

    def join(self, next: SignalsCertificate) -> None:
        """Add the certificate of the next rows."""
        self.classes += next.classes
        self.levels += next.levels
        self.sum = (self.sum + next.sum) % 2**64
        self.rows += next.rows


def certify(
    release: Source, rows: Source, reader: SignalReader, codec: Codec, expected: SignalsCertificate
) -> None:
    """Decode every written row and compare it with its reading.

    Raises
    ------
    AssertionError : a row differs from its reading.
    """
    classes = np.concatenate([np.zeros(0, np.int16), *expected.classes])
    levels = SideLevels.join_parts(expected.levels, len(codec.side))
    found, sent = 0, 0
    numbers = _column(rows, ROW)
    for first, batch in _batches(release, reader.columns):
        Z, blank = messages(batch, reader.forms)
        number = numbers[first : first + len(batch)][~blank]
        which = codec.classes[classes[number]]
        X = codec.decode(Z[~blank], which, known=levels.take(number))
        found = fingerprint(number, X, found)
        sent += len(number)
    if (found, sent) != (expected.sum, expected.rows):
        raise AssertionError("the written rows do not decode to the original readings")


def messages(
    batch: pa.RecordBatch, forms: Sequence[ReadingColumn]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Read the messages of a batch, (n, d), and return the mask of rows without a message.

    Raises
    ------
    TamperedError : a cell is not a message, or a row has only some of its messages.
    """
    cells = [form.messages(batch.column(form.column)) for form in forms]
    blank = cells[0].missing
    if any(cell.strange.any() or (cell.missing != blank).any() for cell in cells):
        raise TamperedError("a cell of the release is not a message")
    return np.stack([cell.values for cell in cells], axis=1), blank


def fingerprint(numbers: NDArray[np.int64], table: NDArray[Any], before: int = 0) -> int:
    """Return the sum of one 64-bit hash per row, of its number and all bits of its readings.

    A changed reading goes undetected with probability 2^-64.
    """
    mixed = _mix_bits(numbers.astype(np.uint64))
    for column in table.T:
        if column.dtype == np.float64:
            bits = (column + 0.0).view(np.uint64)
        else:
            values, codes = np.unique(column.astype(str), return_inverse=True)
            bits = np.array([_text(value) for value in values.tolist()], dtype=np.uint64)[codes]
        mixed = _mix_bits(mixed ^ bits)
    return (before + int(mixed.sum(dtype=np.uint64))) % 2**64


def _text(value: str) -> int:
    return int.from_bytes(blake2b(value.encode(), digest_size=8).digest(), "little")


def _mix_bits(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Mix 64 bits with the finaliser of Steele, Lea, Flood 2014."""
    x = x + ODD
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))


def _batches(source: Source, columns: Sequence[str]) -> Iterator[tuple[int, pa.RecordBatch]]:
    first = 0
    for batch in source.batches(columns):
        yield first, batch
        first += len(batch)


def _column(source: Source, name: str) -> NDArray[np.int64]:
    parts = [np.zeros(0, np.int64)]
    parts += [batch.column(0).to_numpy() for batch in source.batches([name])]
    return np.concatenate(parts)
