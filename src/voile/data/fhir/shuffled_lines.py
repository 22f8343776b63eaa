"""Write JSON lines in random order."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import numpy as np


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
