"""JSON lines: one object for each line, in UTF-8. Text that looks like a date stays text.

A column that a line lacks is null. Plain lists are lists. Objects become text. So do lists that
contain lists or objects, and lists in a mixed column. A line may have 64 MiB. A longer one is an
error before it is read completely.
"""

from __future__ import annotations

import io
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data import text
from voile.data.formats.kinds import ValueKinds, column
from voile.data.source import BATCH_ROWS, FileSource, distinct_names, unreadable

LINE_BYTES = 64 << 20
BATCH_BYTES = 8 << 20
HALF = re.compile(rb"\\u[dD]")
"""The possible beginning of half of a surrogate pair."""
HALVES = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which JSON can contain but valid text cannot."""


class JsonLinesSource(FileSource):
    """A file of JSON lines. Opening it reads the file once to learn the columns and their types.

    Memory: one batch, which contains at most `BATCH_BYTES` of lines.
    """

    def __init__(self, path: Path, *, encoding: str | None = None, errors: str = "strict") -> None:
        self.path, self._errors = path, errors
        asked = None if encoding is None else text.known_encoding(encoding)
        self._encoding = asked or text.marked_encoding(path) or "utf-8"
        kinds: dict[str, ValueKinds] = defaultdict(ValueKinds)
        with unreadable(path.name, "json lines"):
            for batch in self._batches(BATCH_ROWS):
                for name in dict.fromkeys(name for row in batch for name in row):
                    kinds[name].add([row.get(name) for row in batch])
        if not kinds:
            raise SourceError(
                "the file is empty and has no line with a JSON object",
                where=path.name,
                instead="choose a file with rows",
            )
        schema = pa.schema([(name, kind.arrow()) for name, kind in kinds.items()])
        super().__init__(path, "json lines", schema, [f"encoding {self._encoding}"])

    def about_rows(self) -> int | None:
        """Return an estimate of the number of rows, from the length of the first ones."""
        return text.about_lines(self.path)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(columns)
        for batch in self._batches(rows):
            arrays = [column([row.get(f.name) for row in batch], f.type) for f in schema]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _batches(self, rows: int) -> Iterator[list[dict[str, Any]]]:
        parse = parser(self.path.name, self._errors)
        batch: list[dict[str, Any]] = []
        size = 0
        for number, line in numbered_lines(self.path, self._encoding, self._errors):
            if not line.strip():
                continue
            batch.append(parse(number, line))
            size += len(line)
            if len(batch) == rows or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def numbered_lines(
    path: Path, encoding: str, errors: str = "strict"
) -> Iterator[tuple[int, bytes]]:
    """Yield the number, from 1, and the UTF-8 bytes of each line of a text file, with its end."""
    reader = io.BufferedReader(text.ChunkReader(text.utf8_chunks(path, encoding, errors)))
    number = 0
    while line := reader.readline(LINE_BYTES + 1):
        number += 1
        if len(line) > LINE_BYTES:
            raise SourceError(
                f"row {number} is longer than {LINE_BYTES >> 20} MiB",
                where=path.name,
                instead="write each row on its own line",
            )
        yield number, line


def parser(name: str, errors: str = "strict") -> Callable[[int, bytes], dict[str, Any]]:
    """Return a function that parses a numbered line of the file `name` as an object."""
    number = 0

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        row = dict(pairs)
        if len(row) < len(pairs):
            distinct_names([n for n, _ in pairs], where=f"{name}, row {number}")
        return row

    decoder = json.JSONDecoder(object_pairs_hook=once)

    def parse(at: int, line: bytes) -> dict[str, Any]:
        nonlocal number
        number = at
        try:
            row = decoder.decode(line.decode())
            if HALF.search(line) and HALVES.search(said := json.dumps(row, ensure_ascii=False)):
                if errors == "strict":
                    raise text.DecodingError(f"row {number} holds half of a character", where=name)
                row = decoder.decode(HALVES.sub(text.LOST, said))
        except json.JSONDecodeError as error:
            raise SourceError(
                f"row {number} is not valid JSON from character {error.colno} on",
                where=name,
                instead="correct the row",
            ) from None
        except RequestError:
            raise
        except (RecursionError, ValueError):  # deeply nested lists, or a number of many digits
            raise SourceError(
                f"row {number} is JSON with too many levels or too long a number",
                where=name,
                instead="simplify the row",
            ) from None
        if not isinstance(row, dict):
            raise SourceError(
                f"row {number} is not a JSON object",
                where=name,
                instead='write each row as {"column": value}',
            )
        return row

    return parse
