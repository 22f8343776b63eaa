"""Baskets: one line for each record, with its items as text between delimiters.

This is the most common public format of transactions. A blank line is a basket without items.
Blanks around an item, and repetitions of it in a line, are ignored.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data.source import FileSource
from voile.data.text import (
    ChunkReader,
    find_encoding,
    known_encoding,
    raw_chunks,
    utf8_chunks,
)
from voile.data.writer import BatchWriter

ITEMS, BASKETS = "items", "baskets"
"""The name of the item column, and the word after `FILE::` that reads each line as a basket."""
TEXT_LISTS = pa.list_(pa.string())
LOOKED_AT = 1000
DELIMITERS = ",;\t| "
UNEQUAL = 0.2
"""Lines are baskets if more than this share differs from the others in the number of fields."""


class BasketSource(FileSource):
    """A text file of baskets, with a column `items` of lists of text.

    Raises SourceError: a quote is never closed, or bytes are not text.
    """

    def __init__(self, path: Path, *, encoding: str | None = None, errors: str = "strict") -> None:
        self._errors = errors
        self._encoding = known_encoding(encoding) if encoding else find_encoding(path, errors)
        notes = [f"encoding {self._encoding}", "each line is a basket of items"]
        super().__init__(path, BASKETS, [pa.field(ITEMS, TEXT_LISTS)], notes)
        self._delimiter = _find_delimiter(self._text())

    def _text(self) -> io.TextIOWrapper:
        chunks = utf8_chunks(self.path, self._encoding, self._errors)
        return io.TextIOWrapper(io.BufferedReader(ChunkReader(chunks)), "utf-8", newline="")

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        lines = csv.reader(self._text(), delimiter=self._delimiter, strict=True)
        while True:
            try:
                baskets = [_items_of(fields) for fields in islice(lines, rows)]
            except csv.Error as error:
                where = f"{self.name}, line {lines.line_num}"
                raise SourceError(
                    f"the line cannot be read as a basket: {error}", where=where
                ) from None
            if not baskets:
                return
            items = pa.array(baskets, TEXT_LISTS)
            yield pa.RecordBatch.from_arrays([items for _ in columns], columns)


def _items_of(fields: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(str.strip, fields))))


def _find_delimiter(text: io.TextIOBase) -> str:
    """Return the delimiter in most lines. A blank is chosen only if no line has another one."""
    found = Counter(mark for line in islice(text, LOOKED_AT) for mark in DELIMITERS if mark in line)
    return max(DELIMITERS, key=lambda mark: (found[mark] > 0 and mark != " ", found[mark]))


def holds_baskets(path: Path) -> bool:
    """Return whether the first lines of a text file differ in their number of fields."""
    try:
        head = next(raw_chunks(path), b"").decode(errors="ignore")
        mark = _find_delimiter(io.StringIO(head))
        rows = islice(csv.reader(io.StringIO(head, newline=""), delimiter=mark), LOOKED_AT)
        widths = Counter(len(fields) for fields in rows if fields)
    except (SourceError, csv.Error):
        return False
    return max(widths.values(), default=0) < (1 - UNEQUAL) * widths.total()


class BasketWriter(BatchWriter):
    """Write lists of text in the format of `BasketSource`, with quotes around items with blanks.

    Raises RequestError: a line cannot contain the item, such as an empty one.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._file = path.open("w", newline="", encoding="utf-8")
        self._lines = csv.writer(self._file, lineterminator="\n", quoting=csv.QUOTE_ALL)

    def write(self, batch: pa.RecordBatch) -> None:
        for basket in batch.column(ITEMS).to_pylist():
            items = basket or []
            if any(not item or item != item.strip() for item in items):
                raise RequestError(
                    "an item is empty, or begins or ends with a blank, which the basket format "
                    "loses",
                    where=self._name,
                    instead="write .parquet or .jsonl",
                )
            self._lines.writerow(items)

    def close(self) -> None:
        self._file.close()
