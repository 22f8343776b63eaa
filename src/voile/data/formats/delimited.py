"""CSV, TSV and other delimited text. Every column is text.

A field is null if it is empty and unquoted. `""` is an empty text, and `NA` is the text NA. ZIP
00501 stays 00501. The first row contains the column names, unless the file is opened as
`FILE::no-header`. Fields are separated by a comma, semicolon, tab or bar, and quoted with `"`. Any
line end is accepted. Blank lines are skipped, except in a file of one column, where they are nulls.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from voile.core.errors import RequestError, SourceError
from voile.data.formats.baskets import BASKETS, BasketSource
from voile.data.formats.headers import LOOKED_AT, NO_HEADER, warn_of_record
from voile.data.source import FileSource, distinct_names, unreadable
from voile.data.text import ChunkReader, about_lines, find_encoding, known_encoding, utf8_chunks
from voile.data.writer import TextDialect

LONGEST_ROW = 1 << 23
SAMPLE = 1 << 16
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LAST = "\ue000end of the file\ue000"


def open_delimited(path: Path, *, table: str = "", **asked: str) -> FileSource:
    """Open a table of delimited text, or its lines as baskets on request."""
    if table != BASKETS:
        return DelimitedSource(path, table=table, **asked)
    return BasketSource(path, **asked)


class DelimitedSource(FileSource):
    """A delimited text file. Opening it reads the whole file once to find its encoding.

    Memory: a few blocks of 8 MB, the maximum length of a row.
    """

    def __init__(
        self,
        path: Path,
        *,
        table: str = "",
        encoding: str | None = None,
        errors: str = "strict",
    ) -> None:
        if table not in ("", NO_HEADER):
            raise RequestError(
                "the name after :: does not apply, because this format has no tables",
                where=path.name,
                instead=f"write {path.name}::{NO_HEADER} if its first row is a record, or "
                f"{path.name}::{BASKETS} if each line is a basket of items",
            )
        self._errors = errors
        self._names_columns = not table
        self._encoding = known_encoding(encoding) if encoding else find_encoding(path, errors)
        if encoding or self._encoding != "utf-8":  # else detection has read the whole file
            deque(utf8_chunks(path, self._encoding, errors), maxlen=0)
        sample = _sample(path, self._encoding, errors)
        self._delimiter = find_delimiter(sample)
        names, unnamed = _names(sample, self._delimiter, where=path.name)
        if table:
            names, unnamed = [f"column_{i}" for i in range(1, len(names) + 1)], []
        else:
            first, *rows = islice(_rows(sample, self._delimiter), LOOKED_AT)
            remedy = f"write {path.name}::{NO_HEADER}"
            warn_of_record(first, rows, where=path.name, instead=remedy)
        distinct_names(names, where=path.name, first_row=True)
        self._lone = len(names) == 1
        is_of_tabs = ".tsv" in path.name.lower()
        self.dialect = TextDialect(
            "," if is_of_tabs else self._delimiter,
            self._encoding == "utf-8-sig",
            "\r\n" if sample.partition("\n")[0].endswith("\r") else "\n",
        )
        notes = [f"encoding {self._encoding}", f"separated by {DELIMITERS[self._delimiter]}"]
        notes += [] if self._encoding.startswith("utf-8") else ["a release of it is UTF-8"]
        notes += ["its first row is a record"] if table else []
        notes += [f"column {i} has no name: called {names[i - 1]}" for i in unnamed]
        super().__init__(path, "csv", pa.schema([(name, pa.string()) for name in names]), notes)

    def about_rows(self) -> int | None:
        """Return an estimate of the number of rows, from the length of the first ones."""
        return about_lines(self.path)

    def has_rows(self) -> bool:
        """Return whether there is a row.

        The header may be longer than any sample, so a row is read.
        """
        return any(batch.num_rows for batch in self.batches(list(self.columns)[:1], batch_rows=1))

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Yield batches.

        An added last row is lost if a quote is never closed, which reveals the error.
        """
        ragged: list[arrow_csv.InvalidRow] = []
        first = next(iter(self.columns))
        wanted = columns if first in columns else [*columns, first]
        seen = int(self._names_columns)
        with unreadable(self.name, "csv"):
            held = None
            for batch in filter(len, self._parse(wanted, ragged)):
                if held is not None:
                    seen += held.num_rows
                    yield held.select(columns)
                held = batch
            assert held is not None
            if held[first][-1].as_py() != LAST:
                raise SourceError(
                    f"row {seen + held.num_rows} opens a quote and never closes it",
                    where=self.name,
                    instead="close the quote",
                )
            yield held.slice(0, held.num_rows - 1).select(columns)

    def _parse(
        self, columns: list[str], ragged: list[arrow_csv.InvalidRow]
    ) -> Iterator[pa.RecordBatch]:
        names = list(self.columns)
        seen = int(self._names_columns)

        def keep(row: arrow_csv.InvalidRow) -> str:
            ragged.append(row)
            return "error"

        try:
            with arrow_csv.open_csv(
                ChunkReader(self._chunks()),
                arrow_csv.ReadOptions(
                    use_threads=False,
                    block_size=LONGEST_ROW,
                    column_names=names,
                    skip_rows_after_names=int(self._names_columns),
                ),
                arrow_csv.ParseOptions(
                    delimiter=self._delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=not self._lone,
                    invalid_row_handler=keep,
                ),
                arrow_csv.ConvertOptions(
                    check_utf8=False,
                    column_types={name: pa.string() for name in names},
                    null_values=[""],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                    include_columns=columns,
                ),
            ) as reader:
                for batch in reader:
                    yield batch
                    seen += batch.num_rows
        except pa.ArrowInvalid as error:
            if ragged:
                row = ragged[0]
                raise SourceError(
                    f"row {row.number} has {row.actual_columns} fields, but the "
                    f"{'header' if self._names_columns else 'first row'} has "
                    f"{row.expected_columns}",
                    where=self.name,
                    instead="correct the row",
                ) from None
            if "straddling" in str(error):
                raise SourceError(
                    f"the file opens a quote after row {seen} and never closes it, or a row is "
                    f"longer than {LONGEST_ROW >> 20} MB",
                    where=self.name,
                    instead="close the quote, or shorten the row",
                ) from None
            raise

    def _chunks(self) -> Iterator[bytes]:
        """Stream the text.

        The first line is never split, because Arrow reads the names from one chunk.
        """
        held = end = b""
        for chunk in utf8_chunks(self.path, self._encoding, self._errors):
            held += chunk
            end = chunk[-1:] or end
            if b"\n" in held or b"\r" in held or len(held) > LONGEST_ROW:
                yield held
                held = b""
        yield held if end in (b"\n", b"\r") else held + b"\n"
        yield self._delimiter.join([LAST, *[""] * (len(self.columns) - 1)]).encode() + b"\n"


def _sample(path: Path, encoding: str, errors: str) -> str:
    """Return the start of a file as text, up to the last complete line of the sample."""
    head = bytearray()
    chunks = utf8_chunks(path, encoding, errors)
    while len(head) < SAMPLE and (chunk := next(chunks, None)) is not None:
        head += chunk
    if not head.strip():
        raise SourceError(
            "the file is empty and has no column names",
            where=path.name,
            instead="choose a file with a header row",
        )
    whole = bytes(head) if len(head) < SAMPLE else bytes(head[: head.rfind(b"\n") + 1] or head)
    return whole.decode(errors="ignore")


def find_delimiter(sample: str) -> str:
    """Return the delimiter that splits most lines into as many fields as the header.

    >>> find_delimiter("zip;pay\\n00501;1,5\\n00544;2,5\\n")
    ';'
    """

    def score(delimiter: str) -> tuple[float, int]:
        rows = list(islice(_rows(sample, delimiter), 200))
        widths = Counter(len(row) for row in rows)
        width = len(rows[0]) if rows else 0
        return (widths[width] / widths.total() if width > 1 else 0.0, width)

    return max(DELIMITERS, key=score)


def _rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    """Split a sample into rows without blank lines, until a field is too long."""
    try:
        yield from filter(None, csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter))
    except csv.Error:
        return


def _names(sample: str, delimiter: str, *, where: str) -> tuple[list[str], list[int]]:
    """Return the column names of the header, and the positions of unnamed columns.

    Unnamed columns are named by their position.
    """
    header = next(_rows(sample, delimiter), None)
    if header is None:
        raise SourceError(
            "row 1 opens a quote and never closes it", where=where, instead="close the quote"
        )
    unnamed = [i for i, name in enumerate(header, 1) if not name.strip()]
    return [name if name.strip() else f"column_{i}" for i, name in enumerate(header, 1)], unnamed
