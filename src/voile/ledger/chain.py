"""A hash chain: lines of canonical JSON, each with the hash of the previous line.

If a line is changed, removed, inserted or moved, the hashes of all later lines change.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voile.core.brief import BriefRepr
from voile.core.errors import TamperedError
from voile.data.files.own_files import parse_json

FIRST = "0" * 64
"""The first line's placeholder for the hash of a previous line."""


@dataclass(frozen=True)
class LedgerLine(BriefRepr):
    """One line of a ledger.

    number : the line number, from 0.
    before : the SHA-256 of the previous line.
    content : the other fields of the line.
    """

    shows = ("number",)

    number: int
    before: str
    content: Mapping[str, Any]

    def encode_line(self) -> bytes:
        """Return the line's bytes without the newline. Equal contents have equal bytes."""
        data = {**self.content, "line": self.number, "before": self.before}
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.encode_line()).hexdigest()


@dataclass(frozen=True)
class LedgerChain(BriefRepr):
    """Consecutive lines of a ledger.

    torn : the number of bytes after the last complete line, left by a run that was killed.
    """

    shows = ("torn",)

    lines: tuple[LedgerLine, ...] = ()
    torn: int = 0

    @property
    def head(self) -> str:
        """The SHA-256 of the last line."""
        return self.lines[-1].sha256 if self.lines else FIRST

    def next(self, content: Mapping[str, Any]) -> LedgerLine:
        """Return the line with this content that would follow the last one."""
        return LedgerLine(len(self.lines), self.head, content)

    def followed_by(self, line: LedgerLine) -> LedgerChain:
        return LedgerChain((*self.lines, line))


def read_chain(raw: bytes, where: Path) -> LedgerChain:
    """Parse the lines of a ledger's file.

    Raises
    ------
    TamperedError : a line was changed, or does not follow the previous line.
    """
    whole, _, torn = raw.rpartition(b"\n")
    return LedgerChain(tuple(_lines(whole.split(b"\n") if whole else [], where)), len(torn))


def _lines(rows: list[bytes], where: Path) -> Iterator[LedgerLine]:
    before = FIRST
    for number, row in enumerate(rows):
        data = parse_json(row, f"line {number}", where)
        if not isinstance(data, dict):
            raise _broken(number, "is none that voile writes", where)
        content = {name: x for name, x in data.items() if name not in ("line", "before")}
        line = LedgerLine(number, before, content)
        if data.get("before") != before:
            raise _broken(number, "does not follow the line before it", where)
        if line.encode_line() != row:
            raise _broken(number, "is not as it was written", where)
        before = hashlib.sha256(row).hexdigest()
        yield line


def _broken(number: int, what: str, where: Path) -> TamperedError:
    return TamperedError(
        f"line {number} {what}", where=str(where), instead="take the ledger from a backup"
    )
