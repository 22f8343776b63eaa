"""Whatever stops a run, what is seen is the whole old output, or the whole new one, or none."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.data.files.parts import ANY, PARTS, names, publish, seen

from voile.core.errors import RequestError
from voile.data.files.atomic import Staging, write_bytes, write_folder, write_text


def test_all_parts_appear_with_their_modes(tmp_path: Path) -> None:
    publish(tmp_path, "one", force=False)
    assert seen(tmp_path) == "one"
    assert names(tmp_path) == sorted(PARTS)
    assert stat.S_IMODE((tmp_path / PARTS[2]).stat().st_mode) == 0o700
    publish(tmp_path, "two")
    assert seen(tmp_path) == "two"
    assert names(tmp_path) == sorted(PARTS)


def test_a_private_file_is_for_its_owner_only(tmp_path: Path) -> None:
    for output, mode in ((replace(ANY, is_private=True), 0o600), (ANY, 0o644)):
        old = os.umask(0o022)
        try:
            write_bytes(tmp_path / "x", b"x", output, force=True)
        finally:
            os.umask(old)
        assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == mode


def test_what_is_staged_is_for_its_owner_only(tmp_path: Path) -> None:
    with Staging(tmp_path / "r", ANY) as staging:
        for path in (staging.part(tmp_path / "r").parent, staging.scratch()):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE((tmp_path / ".r.voile").stat().st_mode) == 0o700


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_the_old_output(tmp_path: Path, error: type[BaseException]) -> None:
    publish(tmp_path, "old")
    with pytest.raises(error):  # noqa: PT012, SIM117
        with Staging(tmp_path / PARTS[0], ANY, force=True) as staging:
            staging.part(tmp_path / PARTS[0]).write_text("new")
            raise error
    assert seen(tmp_path) == "old"
    assert names(tmp_path) == sorted(PARTS)


def test_without_commit_nothing_appears(tmp_path: Path) -> None:
    with Staging(tmp_path / "r", ANY) as staging:
        staging.part(tmp_path / "r").write_text("x")
    assert names(tmp_path) == []


def test_what_is_no_file_appears_when_all_but_the_main_part_is_in_place(tmp_path: Path) -> None:
    def commit(act: Callable[[], object]) -> None:
        with Staging(tmp_path / PARTS[0], ANY, force=True) as staging:
            staging.folder(tmp_path / PARTS[2], mode=0o700).joinpath("seed").write_text("new")
            for name in PARTS[:2]:
                staging.part(tmp_path / name).write_text("new" * (100 if name == PARTS[0] else 1))
            staging.commit(act)

    def fail() -> None:
        raise ConnectionError

    publish(tmp_path, "old")
    with pytest.raises(ConnectionError):
        commit(fail)
    assert seen(tmp_path) == "old"
    there: list[str] = []
    commit(lambda: there.extend(names(tmp_path)))
    assert there == [".release.csv.voile", *PARTS[1:]]
    assert seen(tmp_path) == "new"


def test_an_existing_part_needs_force(tmp_path: Path) -> None:
    publish(tmp_path, "old")
    with pytest.raises(RequestError, match="the output exists already; replace it with --force"):
        publish(tmp_path, "new", force=False)
    (tmp_path / PARTS[0]).unlink()
    with pytest.raises(RequestError, match=r"release.csv.manifest.json: the output exists already"):
        publish(tmp_path, "new", force=False)
    assert names(tmp_path) == sorted(PARTS[1:])
    with (
        pytest.raises(RequestError, match="the output exists already"),
        Staging(tmp_path / PARTS[0], ANY),
    ):
        pytest.fail("work was begun")


def test_what_came_while_the_output_was_written_stays(tmp_path: Path) -> None:
    with (  # noqa: PT012
        pytest.raises(RequestError, match="the output exists already"),
        Staging(tmp_path / "r", ANY) as staging,
    ):
        staging.part(tmp_path / "r").write_text("mine")
        (tmp_path / "r").write_text("theirs")
        staging.commit()
    assert (tmp_path / "r").read_text() == "theirs"
    assert names(tmp_path) == ["r"]


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="does not exist"):
        publish(tmp_path / "no", "x")
    for nameless in (tmp_path / "..", Path("/")):
        with pytest.raises(RequestError, match="the path does not end in a file name"):
            write_bytes(nameless, b"x", ANY)
    with pytest.raises(RequestError, match="the output's name is not UTF-8 text"):
        write_bytes(tmp_path / "r\udcff", b"x", ANY)


def test_what_the_system_says_is_not_told_as_something_else(tmp_path: Path) -> None:
    (tmp_path / ".r.voile").mkdir(mode=0o700)
    (tmp_path / ".r.voile" / "lock").mkdir()
    with pytest.raises(IsADirectoryError):
        write_bytes(tmp_path / "r", b"x", ANY)
    with pytest.raises(RequestError, match="the output's name is too long"):
        write_bytes(tmp_path / ("r" * 250), b"x", ANY)


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with Staging(tmp_path / "r", ANY) as staging:
        with (
            pytest.raises(RequestError, match="another run is writing"),
            Staging(tmp_path / "r", ANY),
        ):
            pass
        staging.part(tmp_path / "r").write_text("x")
        staging.commit()
    assert names(tmp_path) == ["r"]


def test_single_files_and_folders(tmp_path: Path) -> None:
    write_text(tmp_path / "a.toml", "é", ANY)
    assert (tmp_path / "a.toml").read_text(encoding="utf-8") == "é"
    write_bytes(tmp_path / "a.toml", b"\xff", ANY, force=True)
    assert (tmp_path / "a.toml").read_bytes() == b"\xff"
    for mark in ("one", "two"):
        with write_folder(tmp_path / "kit", ANY, force=mark == "two") as folder:
            (folder / mark).mkdir()
            (folder / mark / "x").write_text(mark)
    assert names(tmp_path / "kit") == ["two"]
    with pytest.raises(ZeroDivisionError):  # noqa: PT012, SIM117
        with write_folder(tmp_path / "kit", ANY, force=True) as folder:
            (folder / "three").touch()
            raise ZeroDivisionError
    assert names(tmp_path / "kit") == ["two"]
    assert names(tmp_path) == ["a.toml", "kit"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system which files are open")
def test_no_file_stays_open(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    before = os.listdir("/proc/self/fd")
    publish(tmp_path, "two")
    assert os.listdir("/proc/self/fd") == before
