"""Test that voile ignores files that other users put where it prepares an output."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from voile.core.errors import RequestError
from voile.data.files.atomic import Staging
from voile.data.files.locks import FolderLock
from voile.data.files.outputs import RELEASE, SUFFIXES

NOBODY = 65_534


def planted(folder: Path, names: list[str]) -> Path:
    """Make a staging folder as a killed run leaves it, its parts called so."""
    staging = folder / ".r.csv.voile"
    for part in ("new", "old"):
        (staging / part).mkdir(parents=True, mode=0o700)
    staging.chmod(0o700)
    (staging / "names").write_text("\0".join(names))
    (staging / "new" / "r.csv").write_text("planted")
    return staging


def write(folder: Path) -> None:
    with Staging(folder / "r.csv", RELEASE) as staging:
        staging.part(folder / "r.csv").write_text("mine")
        staging.commit()


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "diary.txt").write_text("dear diary")
    shared = tmp_path / "shared"
    shared.mkdir()
    return shared


def state(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {str(path): path.read_bytes() for path in files}


def refused(shared: Path, match: str) -> None:
    before = state(shared.parent)
    with pytest.raises(RequestError, match=match):
        write(shared)
    assert state(shared.parent) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder to another user")
def test_a_folder_of_another_user_is_refused(shared: Path) -> None:
    staging = planted(shared, ["r.csv", "../victim/diary.txt"])
    os.chown(staging, NOBODY, NOBODY)
    refused(
        shared,
        r"\.r\.csv\.voile: another user may write to this temporary folder, ",
    )


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o701])
def test_a_folder_that_others_may_open_is_refused(shared: Path, mode: int) -> None:
    planted(shared, ["r.csv"]).chmod(mode)
    refused(shared, "another user may write to this temporary folder")


@pytest.mark.parametrize("at", ["first", "when it is locked"])
def test_a_folder_of_others_is_neither_locked_nor_acted_upon(
    shared: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    """Another's may come between the look at it and the lock."""
    staging, acquire = planted(shared, ["r.csv"]), FolderLock.acquire

    def acquired(lock: FolderLock) -> bool:
        assert at != "first", "a lock was put into it"
        held = acquire(lock)
        staging.chmod(0o777)
        return held

    monkeypatch.setattr(FolderLock, "acquire", acquired)
    if at == "first":
        staging.chmod(0o777)
    refused(shared, "another user may write to this temporary folder")


def test_a_link_or_a_file_in_its_place_is_refused(shared: Path) -> None:
    staging = shared / ".r.csv.voile"
    staging.symlink_to(shared.parent / "victim")
    refused(shared, "another user may write to this temporary folder")
    staging.unlink()
    staging.write_text("a file")
    for mode in (0o644, 0o600):
        staging.chmod(mode)
        refused(shared, "another user may write to this temporary folder")


@pytest.mark.parametrize(
    "name",
    [
        "../victim/diary.txt",
        "..",
        ".",
        "",
        "/etc/passwd",
        "old/../../../victim/diary.txt",
        "r.csv/../../victim/diary.txt",
        "r.csv.private/rows.parquet",
        "other.csv",
        "R.csv",
        "r.csv\n",
    ],
)
def test_a_name_that_is_no_part_of_the_output_is_refused(shared: Path, name: str) -> None:
    planted(shared, ["r.csv", name])
    refused(shared, "the folder contains the parts of another output")


def test_what_a_killed_run_left_is_set_right_whichever_parts_it_had(shared: Path) -> None:
    """Its other parts were in place when it was killed, and somebody removed them since."""
    planted(shared, [f"r.csv{suffix}" for suffix in SUFFIXES])
    write(shared)
    assert [(path.name, path.read_text()) for path in shared.iterdir()] == [("r.csv", "mine")]


def test_a_part_is_one_of_the_output_s_own(shared: Path) -> None:
    with (
        pytest.raises(ValueError, match=r"has no part other\.csv"),
        Staging(shared / "r.csv", RELEASE) as staging,
    ):
        staging.part(shared / "other.csv")


def test_what_came_after_a_kill_stays(shared: Path) -> None:
    staging = planted(shared, ["r.csv"])
    (staging / "old" / "r.csv").write_text("the old release")
    (shared / "r.csv").write_text("put there since")
    refused(shared, "another program wrote this file after a killed run, and")
    (shared / "r.csv").unlink()
    with pytest.raises(RequestError, match="exists"):
        write(shared)
    assert (shared / "r.csv").read_text() == "the old release"
