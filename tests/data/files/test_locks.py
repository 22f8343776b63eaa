"""A lock is held by one, even where its file is removed while another waits for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from voile.data.files import locks
from voile.data.files.locks import FolderLock

OPEN = Path("/proc/self/fd")


def test_one_holds_it_until_it_is_released(tmp_path: Path) -> None:
    one, other = (FolderLock(tmp_path / "folder" / "lock") for _ in range(2))
    assert (one.acquire(), other.acquire()) == (True, False)
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "folder" / "lock").stat().st_mode & 0o777 == 0o600
    one.release()
    assert not (tmp_path / "folder" / "lock").exists()
    assert other.acquire()


def test_a_lock_on_a_file_just_removed_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder removes the file between the opening and the locking of another."""
    holder, waiting, third = (FolderLock(tmp_path / "lock") for _ in range(3))
    assert holder.acquire()
    try_lock = locks._try_lock

    def try_after_release(file: int) -> bool:
        holder.release()
        return try_lock(file)

    monkeypatch.setattr(locks, "_try_lock", try_after_release)
    assert waiting.acquire()
    assert not third.acquire()
    assert (tmp_path / "lock").exists()


@pytest.mark.skipif(not OPEN.is_dir(), reason="the system does not list what is open")
def test_nothing_stays_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = len(list(OPEN.iterdir()))
    test_a_lock_on_a_file_just_removed_is_none(tmp_path, monkeypatch)
    assert len(list(OPEN.iterdir())) == before + 1, "but the lock that is held"


def test_a_lock_whose_file_somebody_removed_is_released(tmp_path: Path) -> None:
    lock, next_ = (FolderLock(tmp_path / "lock") for _ in range(2))
    assert lock.acquire()
    (tmp_path / "lock").unlink()
    lock.release()
    lock.release()
    assert next_.acquire()
