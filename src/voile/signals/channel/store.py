"""What an end of the channel must not forget: a folder that its owner alone may open.

SQLite keeps it: what belongs together is written together, and a process killed at any moment
leaves the state before or the state after. What is deleted is overwritten with zeros.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from voile.core.errors import RequestError, VoileError
from voile.data.files.locks import Lock

FORMAT = 3
FILE = "state.sqlite"
FACTS = "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
SETTINGS = (
    "locking_mode = EXCLUSIVE",  # no shared memory file; there is one process, by the lock
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
)
DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY)


class Store:
    """Keep one end's state on disk; one process at a time."""

    def __init__(self, folder: str | os.PathLike[str], *, end: str, mark: str, tables: str) -> None:
        self.folder = Path(folder)
        self._lock = Lock(self.folder / "lock")
        _own(self.folder)
        if not self._lock.acquire():
            raise RequestError("another process uses this folder", where=str(self.folder))
        try:
            self._open(end, mark, tables)
        except BaseException:
            self.close()
            raise

    def _open(self, end: str, mark: str, tables: str) -> None:
        path = self.folder / FILE
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite would let others read it
        self._database = sqlite3.connect(path, isolation_level=None)
        for setting in SETTINGS:
            self.run(f"PRAGMA {setting}")
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
        """The name by which a broker knows this end again; drawn at random once."""
        return self.fact("client")

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(sql, values).fetchall()
        except (sqlite3.ProgrammingError, sqlite3.NotSupportedError):
            raise  # a fault of ours
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DISK:
                what = "the disk is full, or cannot be written"
                raise VoileError(what, where=str(self.folder)) from None
            raise self._damaged() from None
        except UnicodeDecodeError:  # the name of a damaged thing, in SQLite's own message
            raise self._damaged() from None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say of what the block cannot make sense of that the state is damaged."""
        try:
            yield
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
            raise self._damaged() from None

    def _damaged(self) -> RequestError:
        remedy = "put a backup of the folder back, or use another"
        where = str(self.folder / FILE)
        return RequestError("the state is damaged or no state", where=where, instead=remedy)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that the block changes, or nothing; on disk when the block ends."""
        try:
            self.run("BEGIN IMMEDIATE")
            yield
            self.run("COMMIT")
        except BaseException:
            if self._database.in_transaction:
                with suppress(VoileError):
                    self.run("ROLLBACK")
            raise

    def wipe(self) -> None:
        """Take what was deleted out of SQLite's log as well."""
        self.run("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        if hasattr(self, "_database"):
            self._database.close()
        self._lock.release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _own(folder: Path) -> None:
    """Make the folder, or look that it is ours alone."""
    if not folder.exists():
        if not folder.parent.is_dir():
            raise RequestError(
                f"there is no folder {folder.parent}", where=str(folder), instead="make it first"
            )
        folder.mkdir(mode=0o700)
    elif not folder.is_dir():
        raise RequestError("is no folder", where=str(folder), instead="use another")
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
