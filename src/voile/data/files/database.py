"""A SQLite file that voile owns. Related values are written together, or not at all.

A process that is killed at any moment leaves the state before or after the change. Deleted values
are overwritten with zeros.
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
    """A connection to a SQLite file that only its owner may read.

    The file is created if it is missing.

    Parameters
    ----------
    damaged : the message for a foreign or damaged file, and the fix.
    settings : pragmas to run before the common ones.

    Threads take turns. Other processes may read at the same time, unless the settings forbid it.
    """

    _connection: sqlite3.Connection | None = None

    def __init__(
        self, path: Path, damaged: tuple[str, str], *, settings: Sequence[str] = ()
    ) -> None:
        self._path, self._saying = path, damaged
        os.close(
            os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        )  # SQLite would make it readable for others
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
            raise  # a programming error
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in DISK:
                what = "the disk is full, or cannot be written"
                raise VoileError(what, where=str(self._path.parent)) from None
            raise self.describe_damage() from None
        except UnicodeDecodeError:  # SQLite's message names a damaged object
            raise self.describe_damage() from None

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all changes of the block to disk when it ends, or none of them."""
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
        """Report a damaged file if the block cannot read its values."""
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
