"""Transactions: one row for each line, with its items as integers separated by blanks (FIMI).

In the svmlight format, a label is followed by ``number:1`` for each item. A blank line is a row
without items.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError, SourceError
from voile.data.formats.baskets import ITEMS, BasketSource
from voile.data.source import FileSource
from voile.data.text import raw_chunks
from voile.data.writer import BatchWriter

LABEL = "label"
NUMBERS = r"^[ \t]*([0-9]{1,18}([ \t]+|$))*$"
SVMLIGHT = r"^\s*([^\s:#]+)((\s+[0-9]{1,18}:[01](\.0*)?)*)\s*(#.*)?$"
LISTS = pa.list_(pa.int64())
LOOKED_AT = 1000


class TransactionSource(FileSource):
    """A file of transactions, with a column `items` of lists of integers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "transactions", [pa.field(ITEMS, LISTS)])

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        first = 1
        for lines in _lines(self.path, rows):
            said = "has a value that is not a whole number of at most 18 digits"
            items = _numbers(_check_lines(lines, NUMBERS, first, self.name, said))
            yield pa.RecordBatch.from_arrays([items for _ in columns], columns)
            first += len(lines)


def open_transactions(path: Path) -> FileSource:
    """Open transactions of integers, or baskets of text if most lines do not contain integers."""
    lines = [line for line in next(_lines(path, LOOKED_AT), []) if line.strip()]
    numbers = sum(re.match(NUMBERS.encode(), line.rstrip(b"\r")) is not None for line in lines)
    if 2 * numbers >= len(lines):
        return TransactionSource(path)
    return BasketSource(path)


class SvmlightSource(FileSource):
    """A file in the svmlight format, with the columns `label` (text) and `items`."""

    def __init__(self, path: Path) -> None:
        fields = [pa.field(LABEL, pa.string()), pa.field(ITEMS, LISTS)]
        super().__init__(path, "svmlight", fields)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        first = 1
        for lines in _lines(self.path, rows):
            said = "is not a label with items of value 0 or 1"
            text = _check_lines(lines, SVMLIGHT, first, self.name, said)
            label = pc.replace_substring_regex(text, SVMLIGHT, r"\1")
            ones = pc.replace_substring_regex(text, SVMLIGHT, r"\2")
            ones = pc.replace_substring_regex(ones, r"[0-9]+:0(\.0*)?(\s|$)", " ")
            items = _numbers(pc.replace_substring_regex(ones, r":1(\.0*)?", ""))
            both = {LABEL: label, ITEMS: items}
            yield pa.RecordBatch.from_arrays([both[name] for name in columns], columns)
            first += len(lines)


def _lines(path: Path, rows: int) -> Iterator[list[bytes]]:
    """Yield lists of at most `rows` lines, without line ends."""
    held: list[bytes] = []
    rest = b""
    for chunk in raw_chunks(path):
        *whole, rest = (rest + chunk).split(b"\n")
        held += whole
        while len(held) >= rows:
            yield held[:rows]
            held = held[rows:]
    if rest:
        held.append(rest)
    if held:
        yield held


def _check_lines(lines: list[bytes], pattern: str, first: int, name: str, said: str) -> pa.Array:
    """Return the lines as text. Raise SourceError for the first line that does not match."""
    text = pa.array([line.rstrip(b"\r") for line in lines], pa.binary())
    good = pc.match_substring_regex(text, pattern).to_numpy(zero_copy_only=False)
    if not good.all():
        raise SourceError(said, where=f"{name}, line {first + int(np.argmin(good))}")
    try:
        return text.cast(pa.string())
    except pa.ArrowInvalid:
        bad = next(i for i, line in enumerate(lines) if not _is_text(line))
        raise SourceError(
            "the line is not UTF-8 text",
            where=f"{name}, line {first + bad}",
            instead="save the file as UTF-8",
        ) from None


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _numbers(text: pa.Array) -> pa.Array:
    words = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(text))
    flat = pc.list_flatten(words)
    row = pc.list_parent_indices(words)
    there = pc.not_equal(flat, "")
    numbers = flat.filter(there).cast(pa.int64())
    sizes = np.bincount(row.filter(there).to_numpy(zero_copy_only=False), minlength=len(text))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), numbers)


class _LineWriter(BatchWriter):
    def __init__(self, path: Path, schema: pa.Schema, names: tuple[str, ...]) -> None:
        if sorted(schema.names) != sorted(names):
            raise RequestError(
                f"this format has exactly the columns {' and '.join(names)}, but the "
                f"release has {', '.join(schema.names)}",
                where=path.name,
                instead="write the release as .parquet",
            )
        self._file = path.open("wb")
        self._names = names

    def write(self, batch: pa.RecordBatch) -> None:
        items = batch.column(ITEMS)
        text = pc.list_flatten(items).cast(pa.string())
        lists = pa.ListArray.from_arrays(_offsets(items), self._spelt(text))
        columns = [pc.binary_join(lists, " ")]
        if LABEL in self._names:
            columns.insert(0, batch.column(LABEL).cast(pa.string()))
        for cells in zip(*(column.to_pylist() for column in columns), strict=True):
            self._file.write(" ".join(cells).rstrip().encode() + b"\n")

    def _spelt(self, text: pa.Array) -> pa.Array:
        return text

    def close(self) -> None:
        self._file.close()


class TransactionWriter(_LineWriter):
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(path, schema, (ITEMS,))


class SvmlightWriter(_LineWriter):
    """Write labels and items in the format of `SvmlightSource`."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(path, schema, (LABEL, ITEMS))

    def _spelt(self, text: pa.Array) -> pa.Array:
        return pc.binary_join_element_wise(text, "1", ":")


def _offsets(lists: pa.Array) -> pa.Array:
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))
