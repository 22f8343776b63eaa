"""A SQLite file of voile's own. Related values are written together, or not at all.

A process killed at any moment leaves the state before or the state after. Deleted values are
overwritten with zeros.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from voile.core.errors import DamagedError, VoileError

SETTINGS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON")
DISK = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY)


class OwnDatabase:
    """Run statements on a file that its owner alone may read, which appears if it is not there.

    Parameters
    ----------
    damaged : the message for a foreign or damaged file, and the fix.
    settings : pragmas before the common ones.

    Threads take turns; other processes may read meanwhile, unless the settings forbid it.
    """

    _connection: sqlite3.Connection | None = None

    def __init__(
        self, path: Path, damaged: tuple[str, str], *, settings: Sequence[str] = ()
    ) -> None:
        self._path, self._saying = path, damaged
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite would let others read it
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            for setting in (*settings, *SETTINGS):
                self.run(f"PRAGMA {setting}")
        except BaseException:
            self.close()
            raise

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        try:
            return self._open_connection.execute(sql, values).fetchall()
        except (sqlite3.ProgrammingError, sqlite3.NotSupportedError):
            raise  # a fault of ours
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DISK:
                what = "the disk is full, or cannot be written"
                raise VoileError(what, where=str(self._path.parent)) from None
            raise self.describe_damage() from None
        except UnicodeDecodeError:  # the name of a damaged thing, in SQLite's own message
            raise self.describe_damage() from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all that the block changes, or nothing; on disk when the block ends."""
        try:
            self.run("BEGIN IMMEDIATE")
            yield
            self.run("COMMIT")
        except BaseException:
            if self.in_transaction:
                with suppress(VoileError):
                    self.run("ROLLBACK")
            raise

    @property
    def in_transaction(self) -> bool:
        return self._open_connection.in_transaction

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Report that the file is damaged if the block cannot read its values."""
        try:
            yield
        except (ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
            raise self.describe_damage() from None

    def describe_damage(self) -> DamagedError:
        what, instead = self._saying
        return DamagedError(what, where=str(self._path), instead=instead)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _open_connection(self) -> sqlite3.Connection:
        assert self._connection is not None
        return self._connection
