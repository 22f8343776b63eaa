"""The state of a sender or recipient: a folder that only its owner may open.

The folder contains a database and text files that grow with it.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from voile.core.errors import RequestError
from voile.data.files.database import OwnDatabase
from voile.data.files.locks import FolderLock

MODE = os.O_CREAT | os.O_RDWR | getattr(os, "O_BINARY", 0)


class StoreLines:
    """An append-only file in a store's folder. The store records its valid length.

    Call `write` within a transaction of the store. Then call `keep` if the transaction was
    committed, or `drop` if it was not.
    """

    def __init__(self, store: EndStore, name: str) -> None:
        self._store, self._fact = store, f"length of {name}"
        path = Path(store.folder / name)
        with store.reading():
            self._length = int(store.fact(self._fact) or 0)
        self._next = self._length
        self._file = os.open(path, MODE, 0o600)
        if not 0 <= self._length <= os.fstat(self._file).st_size:
            os.close(self._file)
            raise RequestError(
                "the file is shorter than its recorded length",
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
        """Mark the written lines as valid."""
        self._length = self._next

    def drop(self) -> None:
        os.ftruncate(self._file, self._length)
        self._next = self._length

    def close(self) -> None:
        os.close(self._file)


FORMAT = 5
FILE = "state.sqlite"
FACTS = "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
ALONE = ("locking_mode = EXCLUSIVE",)  # avoids a shared memory file; the lock ensures one process
DAMAGED = ("the state is damaged or no state", "put a backup of the folder back, or use another")


class EndStore(OwnDatabase):
    """The state of one sender or recipient on disk, for one process at a time."""

    def __init__(self, folder: str | os.PathLike[str], *, end: str, mark: str, tables: str) -> None:
        self.folder = Path(folder)
        self._lock = FolderLock(self.folder / "lock")
        _own(self.folder)
        if not self._lock.acquire():
            raise RequestError("another process uses this folder", where=str(self.folder))
        try:
            super().__init__(self.folder / FILE, DAMAGED, settings=ALONE)
            self._begin(end, mark, tables)
        except BaseException:
            self.close()
            raise

    def _begin(self, end: str, mark: str, tables: str) -> None:
        known = (end, mark, str(FORMAT))
        names = ("end", "map", "format")
        with self.transaction():
            for statement in (FACTS, *tables.split(";")):
                self.run(statement)
            for name, value in zip(names, known, strict=True):
                self.run("INSERT OR IGNORE INTO facts VALUES (?, ?)", name, value)
            self.run("INSERT OR IGNORE INTO facts VALUES ('client', ?)", secrets.token_hex(8))
        if tuple(self.fact(name) for name in names) != known:
            raise RequestError(
                "the folder is of another end, map or version of voile",
                where=str(self.folder),
                instead="use another folder",
            )

    def fact(self, name: str) -> str:
        rows = self.run("SELECT value FROM facts WHERE name = ?", name)
        return str(rows[0][0]) if rows else ""

    def note(self, name: str, value: str) -> None:
        self.run("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, value)

    @property
    def client(self) -> str:
        """The random name by which a broker recognizes this client. It is drawn once."""
        return self.fact("client")

    def wipe(self) -> None:
        """Remove deleted rows from SQLite's write-ahead log as well."""
        self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        super().close()
        self._lock.release()


def _own(folder: Path) -> None:
    """Make the folder, or check that it is a store that only its owner may open."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise RequestError(
                f"there is no folder {folder.parent}", where=str(folder), instead="make it first"
            )
        folder.mkdir(mode=0o700)
    elif not folder.is_dir():
        raise RequestError("is not a folder", where=str(folder), instead="use another")
    elif {*os.listdir(folder)} - {"lock"} and not (folder / FILE).exists():
        raise RequestError(
            "the folder holds other things than an end's state",
            where=str(folder),
            instead="use a new one",
        )
    if os.name == "posix" and stat.S_IMODE(folder.stat().st_mode) & 0o077:
        raise RequestError(
            "others may open the folder, which holds readings",
            where=str(folder),
            instead="let only its owner open it: chmod 700",
        )
