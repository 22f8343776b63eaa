"""JSON lines read one at a time with their places, and written in random order."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.errors import SourceError

LONGEST = 64 << 20
"""Bytes of a line."""


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each line's place and its object; blank lines are passed over.

    Raises SourceError: a line is no JSON object, or too long; with its place and none of its text.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST + 1), b""), 1):
                place = f"{path.name}, line {number:,}"
                if len(line) > LONGEST:
                    raise SourceError(f"is longer than {LONGEST >> 20} MiB", where=place)
                if line.strip():
                    yield place, _object(line, place)
    except OSError as error:
        said = (error.strerror or "no reason").lower()
        raise SourceError(f"cannot be read ({said})", where=path.name) from None


def _object(line: bytes, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line.decode(), parse_constant=_no_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise SourceError("is not valid JSON", where=place) from None
    if not isinstance(found, dict):
        raise SourceError("is not a JSON object", where=place)
    return found


def _no_constant(_: str) -> Any:
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse two members of one name: readers differ in which of them they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


class ShuffledLines:
    """Write lines that appear in random order. Memory: 16 bytes a line; the rest is on disk."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._file = scratch.open("xb")
        self._starts = array("q", [0])

    def add(self, row: dict[str, Any]) -> None:
        line = json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._file.write(line)
        self._starts.append(self._starts[-1] + len(line))

    def write(self, path: Path, rng: np.random.Generator) -> int:
        """Write every line once, and return how many they are."""
        self._file.close()
        count = len(self._starts) - 1
        with self._scratch.open("rb") as lines, path.open("xb") as file:
            for n in rng.permutation(count):
                lines.seek(self._starts[n])
                file.write(lines.read(self._starts[n + 1] - self._starts[n]))
        self._scratch.unlink()
        return count
