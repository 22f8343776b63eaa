"""JSON lines: one object a line, UTF-8; a text is a text, never a date that looks like one.

A column that is absent from a line is null there. Objects and lists inside a line become text.
"""

from __future__ import annotations

import io
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.errors import SourceError
from voile.io.kinds import Kinds, column
from voile.io.source import BATCH_ROWS, FileSource, distinct_names, unreadable
from voile.io.text import ChunkReader, find_encoding, known_encoding, utf8_chunks


class JsonLinesSource(FileSource):
    """A file of JSON lines; opening it reads it once to learn the columns and their types."""

    def __init__(self, path: Path, *, encoding: str | None = None) -> None:
        self._encoding = known_encoding(encoding) if encoding else find_encoding(path)
        self.path = path
        kinds: dict[str, Kinds] = defaultdict(Kinds)
        with unreadable(path.name, "json lines"):
            for batch in self._batches(BATCH_ROWS):
                for name in dict.fromkeys(name for row in batch for name in row):
                    kinds[name].add([row.get(name) for row in batch])
        if not kinds:
            raise SourceError("is empty: no line holds an object", where=path.name)
        schema = pa.schema([(name, kind.arrow()) for name, kind in kinds.items()])
        super().__init__(path, "json lines", schema, [f"encoding {self._encoding}"])

    def _read(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(columns)
        for batch in self._batches(rows):
            arrays = [column([row.get(f.name) for row in batch], f.type) for f in schema]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _batches(self, rows: int) -> Iterator[list[dict[str, Any]]]:
        lines = self._rows()
        while batch := list(islice(lines, rows)):
            yield batch

    def _rows(self) -> Iterator[dict[str, Any]]:
        reader = io.BufferedReader(ChunkReader(utf8_chunks(self.path, self._encoding)))
        number = 0

        def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            row = dict(pairs)
            if len(row) < len(pairs):
                distinct_names([n for n, _ in pairs], where=f"{self.path.name}, row {number}")
            return row

        decoder = json.JSONDecoder(object_pairs_hook=once)
        for number, line in enumerate(reader, 1):
            if line.strip():
                yield self._row(number, line.decode(), decoder)

    def _row(self, number: int, line: str, decoder: json.JSONDecoder) -> dict[str, Any]:
        try:
            row = decoder.decode(line)
        except json.JSONDecodeError as error:
            raise SourceError(
                f"row {number} is not whole JSON from character {error.colno} on",
                where=self.path.name,
            ) from None
        if not isinstance(row, dict):
            raise SourceError(f"row {number} is no JSON object", where=self.path.name)
        return row
