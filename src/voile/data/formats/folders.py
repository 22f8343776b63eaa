"""Folders with a file for each row: plain text, text with brat annotations, or Word.

The columns are `file`, the name without its suffix, and `text`. For brat, there is also `spans` in
JSON. Rows are in the order of the names, with numbers compared by value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data.formats.word import WordFile
from voile.data.source import Source
from voile.data.writer import BatchWriter
from voile.keys.seal import file_sha256

FILE, TEXT, SPANS = "file", "text", "spans"
TXT, ANN, DOCX = ".txt", ".ann", ".docx"
NUMBER = "{:06d}"
_ANNOTATION = re.compile(r"T\d+\t(\S+) (\d+) (\d+)\t.*")
_NAME = re.compile(r"[^\s./\\:*?\"<>|][^/\\:*?\"<>|]{0,99}(?<![\s.])")
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def is_file_name(name: str) -> bool:
    """Return whether a file can have this name on every system.

    >>> [is_file_name(name) for name in ("17 a", "../17", ".17", "a/b", "nul", "")]
    [True, False, False, False, False, False]
    """
    good = name.isprintable() and _NAME.fullmatch(name) and len(name.encode()) <= 200
    return bool(good) and not _DEVICES.fullmatch(name)


class FolderWriter(BatchWriter):
    """Write rows with `file` (null for a number), `text`, and other columns of the format.

    If a text is bytes, it is the content of a Word file. Spans are annotations of brat.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._folder, self._rows = path, 0
        self._is_word = pa.types.is_binary(schema.field(TEXT).type)
        self._used: set[str] = set()
        path.mkdir()

    def write(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            self._rows += 1
            name = self._name(row[FILE])
            if self._is_word:
                self._put_file(name + DOCX, row[TEXT])
                continue
            self._put_file(name + TXT, row[TEXT].encode())
            if SPANS in row:
                self._put_file(name + ANN, _annotations(row[TEXT], json.loads(row[SPANS])).encode())

    def _name(self, given: str | None) -> str:
        name = NUMBER.format(self._rows) if given is None else given
        if not is_file_name(name) or name.casefold() in self._used:
            raise RequestError(
                f"row {self._rows} has the same file name as another row, or its name is no "
                "valid file name",
                where=self._folder.name,
                instead="name files by a column of distinct plain names",
            )
        self._used.add(name.casefold())
        return name

    def _put_file(self, name: str, content: bytes) -> None:
        with (self._folder / name).open("xb") as file:
            file.write(content)

    def close(self) -> None:
        """Do nothing, because no file is left open."""


class FolderSource(Source):
    """The files of a folder in the format of `FolderWriter`. Memory: one batch."""

    def __init__(self, path: Path) -> None:
        ends = {one.suffix for one in path.iterdir()}
        self.path = path
        self._end = DOCX if DOCX in ends else TXT
        names = [FILE, TEXT, *([SPANS] if ANN in ends else [])]
        super().__init__(path.name, "folder", [pa.field(name, pa.string()) for name in names])

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        schema = self.schema(columns)
        files = sorted(
            (one for one in self.path.iterdir() if one.suffix == self._end),
            key=lambda one: (len(one.stem), one.stem) if one.stem.isdigit() else (0, one.stem),
        )
        for start in range(0, len(files), rows):
            part = files[start : start + rows]
            arrays = [pa.array(map(_CELLS[name], part), pa.string()) for name in columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def fingerprint(self) -> str:
        return file_sha256(self.path)


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
        return WordFile(raw, path.name).text if path.suffix == DOCX else raw.decode()
    except UnicodeDecodeError:
        raise SourceError(
            "the file is not UTF-8 text", where=path.name, instead="save the file as UTF-8"
        ) from None
    except OSError as error:
        raise SourceError(f"the file cannot be read ({error.strerror})", where=path.name) from None


def _annotations(text: str, spans: list[dict[str, Any]]) -> str:
    lines = []
    for number, one in enumerate(spans, 1):
        start, end = one["start"], one["end"]
        lines.append(f"T{number}\t{one['label']} {start} {end}\t{text[start:end]}\n")
    return "".join(lines)


def _spans(path: Path) -> str:
    found = [_ANNOTATION.fullmatch(line) for line in _text(path.with_suffix(ANN)).splitlines()]
    if None in found:
        raise SourceError(
            "the file contains a line that is not a brat annotation",
            where=path.with_suffix(ANN).name,
            instead="correct that line, or remove it",
        )
    spans = [{"start": int(one[2]), "end": int(one[3]), "label": one[1]} for one in found if one]
    return encode_spans(spans)


def encode_spans(spans: list[dict[str, Any]]) -> str:
    return json.dumps(spans, ensure_ascii=False, separators=(",", ":"))


_CELLS: dict[str, Callable[[Path], str]] = {
    FILE: lambda path: path.stem,
    TEXT: _text,
    SPANS: _spans,
}
