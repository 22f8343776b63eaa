"""Read lines and documents of FHIR files with their positions, and write lines in random order."""

from __future__ import annotations

import gzip
import json
import sys
import zlib
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from voile.core.errors import SourceError
from voile.data.fhir.spans import UNIQUE, BrokenJsonError, read_document


class UnreadableFileError(SourceError):
    """A file cannot be opened or decompressed. Check its permissions and its format."""


LONGEST = 64 << 20
"""The largest number of bytes of a line that is parsed as a resource."""


def read_resources(
    path: Path, *, longest: int | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the position and the resource of each line of a file. Blank lines are skipped.

    Memory: one line.

    Raises
    ------
    SourceError : a line is not a JSON object, or is longer than `longest` bytes. The message
        contains its position, not its text.
    """
    with _report_unreadable(path), open_plain(path) as file:
        for place, line in _read_lines(file, path.name, longest=longest or LONGEST):
            if line.strip():
                yield place, _parse_object(line, place)


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the position and the object of each line, or of a file that is a single object.

    Memory: one line, or the file if it is a single object.

    Raises
    ------
    SourceError : the file is neither. The message contains the position, not the text.
    """
    with _report_unreadable(path), open_plain(path) as file:
        first = next((line for line in file if line.strip()), b"")
        if not first or _is_document(first):
            is_lines = path.name.lower().removesuffix(".gz").endswith(".ndjson")
            yield from read_resources(path, longest=None if is_lines else sys.maxsize - 1)
        else:
            yield path.name, _parse_object(first + file.read(), path.name)


def open_plain(path: Path) -> BinaryIO:
    """Open a file, decompressed if it is a `.gz` file. Raises EOFError for an empty `.gz` file."""
    if path.suffix.lower() != ".gz":
        return path.open("rb")
    if path.stat().st_size == 0:
        raise EOFError
    return cast(BinaryIO, gzip.open(path))


def read_documents(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the position and the text of each document: each line, or the whole file.

    The text includes line ends.

    Raises
    ------
    SourceError : the file cannot be read, or is not UTF-8.
    """
    with _report_unreadable(path), path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
        file.seek(0)
        whole = [] if _is_document(first) else [(path.name, file.read())]
        for place, data in whole or _read_lines(file, path.name):
            yield place, _decode_text(data, place)


def _read_lines(
    file: BinaryIO, name: str, *, longest: int = sys.maxsize - 1
) -> Iterator[tuple[str, bytes]]:
    for number, line in enumerate(iter(lambda: file.readline(longest + 1), b""), 1):
        place = f"{name}, line {number:,}"
        if len(line) > longest:
            raise SourceError(f"the line is longer than {longest >> 20} MiB", where=place)
        yield place, line


def _parse_object(line: bytes, place: str) -> dict[str, Any]:
    try:
        found, _ = read_document(line.decode(), decoder=UNIQUE)
    except ValueError:
        raise SourceError("the line is not valid JSON", where=place) from None
    if not isinstance(found, dict):
        raise SourceError("the line is not a JSON object", where=place)
    return found


def _is_document(line: bytes) -> bool:
    try:
        read_document(line.decode())
    except ValueError:
        return False
    return True


def _decode_text(data: bytes, place: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise SourceError("the line is not UTF-8, which FHIR requires", where=place) from None


@contextmanager
def _report_unreadable(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UnreadableFileError(
            "the .gz file is truncated or damaged", where=path.name, instead="copy the file again"
        ) from None
    except OSError as error:
        why = (error.strerror or "no reason").lower()
        raise UnreadableFileError(f"the file cannot be read ({why})", where=path.name) from None


@contextmanager
def report_broken(place: str) -> Iterator[None]:
    """Convert a BrokenJsonError to a SourceError."""
    try:
        yield
    except BrokenJsonError:
        raise SourceError("the file is not FHIR in JSON", where=place) from None


class ShuffledLines:
    """A writer of lines in random order. Memory: 16 bytes for each line. The lines are on disk."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._file = scratch.open("xb")
        self._starts = array("q", [0])
        self._dropped: set[int] = set()

    def __len__(self) -> int:
        return len(self._starts) - 1 - len(self._dropped)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the text of each line, in the order in which they were added."""
        self._file.flush()
        with self._scratch.open("rb") as lines:
            yield from ((n, line) for n, line in enumerate(lines) if n not in self._dropped)

    def drop(self, number: int) -> None:
        self._dropped.add(number)

    def add(self, row: dict[str, Any]) -> None:
        line = encode_line(row)
        self._file.write(line)
        self._starts.append(self._starts[-1] + len(line))

    def write(
        self,
        path: Path,
        rng: np.random.Generator,
        change: Callable[[bytes], bytes] = lambda line: line,
    ) -> int:
        """Write every line once, converted by `change`, and return the number of lines."""
        self._file.close()
        with self._scratch.open("rb") as lines, path.open("xb") as file:
            for n in rng.permutation(len(self._starts) - 1):
                if int(n) in self._dropped:
                    continue
                lines.seek(self._starts[n])
                file.write(change(lines.read(self._starts[n + 1] - self._starts[n])))
        self._scratch.unlink()
        return len(self)


def encode_line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
