"""A file that grows by whole turns: what a turn that did not end wrote is taken off again."""

from __future__ import annotations

import os
from pathlib import Path

from voile.core.errors import RequestError
from voile.signals.channel.store import Store

MODE = os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0)


class Lines:
    """Write lines at the end of a file in a store's folder; the store knows how far it is valid.

    Within a transaction of the store `write` lines, then `keep` once it is committed, or `drop`.
    """

    def __init__(self, store: Store, name: str) -> None:
        self._store, self._fact = store, f"length of {name}"
        path = Path(store.folder / name)
        with store.reading():
            self._length = int(store.fact(self._fact) or 0)
        self._next = self._length
        self._file = os.open(path, MODE, 0o600)
        if not 0 <= self._length <= os.fstat(self._file).st_size:
            os.close(self._file)
            raise RequestError(
                "the file is shorter than what was written to it",
                where=os.fspath(path),
                instead="put it back, or use another folder",
            )
        self.drop()

    def write(self, lines: bytes) -> None:
        if not lines:
            return
        os.lseek(self._file, self._length, os.SEEK_SET)
        left = memoryview(lines)
        while left:
            left = left[os.write(self._file, left) :]
        os.fsync(self._file)
        self._next = self._length + len(lines)
        self._store.note(self._fact, str(self._next))

    def keep(self) -> None:
        """Take what was written for valid."""
        self._length = self._next

    def drop(self) -> None:
        os.ftruncate(self._file, self._length)
        self._next = self._length

    def close(self) -> None:
        os.close(self._file)
