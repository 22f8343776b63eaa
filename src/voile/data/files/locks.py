"""A lock that ends with its process, stored in a file in the folder that it protects."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _try_lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


PAUSE = 0.01
"""The number of seconds between two attempts to lock."""


class FolderLock:
    """A lock that lets one process at a time use a folder. The folder is created with the lock.

    path : the path of the lock file.
    patience : how many seconds to wait for a live process.
    """

    def __init__(self, path: Path, *, patience: float = 0) -> None:
        self._path, self._patience = path, patience
        self._file: int | None = None

    def acquire(self) -> bool:
        """Create the folder with mode 0700, and lock it.

        Return False if a live process has the lock.
        """
        end = time.monotonic() + self._patience
        while not self._acquire_now():
            if time.monotonic() >= end:
                return False
            time.sleep(PAUSE)
        return True

    def _acquire_now(self) -> bool:
        folder = self._path.parent
        while True:
            try:
                folder.mkdir(mode=0o700, exist_ok=True)
                file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            except (FileNotFoundError, FileExistsError):
                if os.path.lexists(folder) and not folder.is_dir():
                    raise
                continue  # its last user has just removed the folder
            if not _try_lock(file):
                os.close(file)
                return False
            if self._is_current(file):
                self._file = file
                return True
            os.close(file)

    def _is_current(self, file: int) -> bool:
        """Return whether the locked file is still at its path, and was not removed meanwhile."""
        try:
            return os.path.samestat(os.fstat(file), self._path.stat())
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Remove the lock file and release the lock."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


@contextmanager
def hold_lock(path: Path, refusal: Exception) -> Iterator[None]:
    """Hold a lock while the block runs. Raise `refusal` if a live process holds it."""
    lock = FolderLock(path)
    if not lock.acquire():
        raise refusal
    try:
        yield
    finally:
        lock.release()
