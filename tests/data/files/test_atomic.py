"""Whatever stops a run, what is seen is the whole old output, or the whole new one, or none."""

from __future__ import annotations

import errno
import inspect
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

import voile.data.files.atomic as atomic
from voile.core.errors import RequestError, VoileError
from voile.data import open_writer
from voile.data.files.atomic import Staging, write_bytes, write_folder, write_text
from voile.data.files.outputs import SUFFIXES, Output

PARTS = ("release.csv", "release.csv.manifest.json", "release.csv.private")
ANY = Output("output", dict.fromkeys(SUFFIXES, lambda _: True))


def publish(folder: Path, mark: str, *, force: bool = True) -> None:
    """Write an output of three parts, each holding the same mark."""
    release, manifest, private = (folder / name for name in PARTS)
    with Staging(release, ANY, force=force) as staging:
        staging.folder(private, mode=0o700).joinpath("seed").write_text(mark)
        staging.part(manifest).write_text(mark)
        staging.part(release).write_text(mark * 100)
        staging.commit()


def seen(folder: Path) -> str | None:
    """Say whose output a user sees; fail if it is half or mixed. None without the main part."""
    release, manifest, private = (folder / name for name in PARTS)
    try:
        text = release.read_text()
    except FileNotFoundError:
        return None
    marks = {text[: len(text) // 100], manifest.read_text(), (private / "seed").read_text()}
    assert len(text) % 100 == 0
    assert len(marks) == 1, marks
    return marks.pop()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
    with pytest.raises(RequestError, match="is there already; replace it with --force"):
        publish(tmp_path, "new", force=False)
    (tmp_path / PARTS[0]).unlink()
    with pytest.raises(RequestError, match=r"release.csv.manifest.json: is there already"):
        publish(tmp_path, "new", force=False)
    assert names(tmp_path) == sorted(PARTS[1:])
    with (
        pytest.raises(RequestError, match="is there already"),
        Staging(tmp_path / PARTS[0], ANY),
    ):
        pytest.fail("work was begun")


def test_what_came_while_the_output_was_written_stays(tmp_path: Path) -> None:
    with (  # noqa: PT012
        pytest.raises(RequestError, match="is there already"),
        Staging(tmp_path / "r", ANY) as staging,
    ):
        staging.part(tmp_path / "r").write_text("mine")
        (tmp_path / "r").write_text("theirs")
        staging.commit()
    assert (tmp_path / "r").read_text() == "theirs"
    assert names(tmp_path) == ["r"]


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="there is no folder"):
        publish(tmp_path / "no", "x")
    for nameless in (tmp_path / "..", Path("/")):
        with pytest.raises(RequestError, match="names no file"):
            write_bytes(nameless, b"x", ANY)
    with pytest.raises(RequestError, match="its name is no UTF-8 text"):
        write_bytes(tmp_path / "r\udcff", b"x", ANY)


def test_what_the_system_says_is_not_told_as_something_else(tmp_path: Path) -> None:
    (tmp_path / ".r.voile").mkdir(mode=0o700)
    (tmp_path / ".r.voile" / "lock").mkdir()
    with pytest.raises(IsADirectoryError):
        write_bytes(tmp_path / "r", b"x", ANY)
    with pytest.raises(RequestError, match="its name is too long"):
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


@pytest.mark.parametrize("old", ["old", None])
@pytest.mark.parametrize("stop", range(26))
def test_killed_before_any_step_of_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str | None, stop: int
) -> None:
    """Stop at every rename and sync in turn, without any clean-up, then run again."""
    if old:
        publish(tmp_path, old)
    died = die_at(monkeypatch, stop, lambda: publish(tmp_path, "new"))
    after = seen(tmp_path)
    assert after in ({old, None, "new"} if died else {"new"})
    restored = die_at_once(tmp_path)
    assert restored == (after if after == "new" else old)
    publish(tmp_path, "third")
    assert seen(tmp_path) == "third"
    assert names(tmp_path) == sorted(PARTS)


@pytest.mark.parametrize("old", ["old", None])
@pytest.mark.parametrize("stop", range(8, 20))
def test_killed_again_while_putting_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str | None, stop: int
) -> None:
    if old:
        publish(tmp_path, old)
    die_at(monkeypatch, stop, lambda: publish(tmp_path, "new"))
    before = seen(tmp_path)
    again = 0
    while die_at(monkeypatch, again, lambda: die_at_once(tmp_path)):
        assert seen(tmp_path) in ({"new"} if before == "new" else {old, None})
        again += 1
    assert again
    assert die_at_once(tmp_path) == ("new" if before == "new" else old)


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system which file is synced")
def test_all_is_on_disk_before_anything_appears(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut leaves what a kill would."""
    log: list[Path] = []  # of syncs, and of renames what is there by each

    def fsync(file: int) -> None:
        log.append(Path(os.readlink(f"/proc/self/fd/{file}")))

    def rename(one: Path, other: Path) -> None:
        renamed[other] = len(log)
        os_rename(one, other)

    os_rename, renamed = os.rename, dict[Path, int]()
    monkeypatch.setattr(atomic.os, "fsync", fsync)
    monkeypatch.setattr(atomic.os, "rename", rename)
    publish(tmp_path, "one")
    staging = tmp_path / ".release.csv.voile"
    names, first, *_, last = renamed.values()
    every = {staging / "new" / name for name in (*PARTS, f"{PARTS[2]}/seed")}
    assert {*every, staging / "new.names"} <= set(log[:names])
    assert staging in log[names:first]
    assert tmp_path in log[last:]
    place, *_, main = renamed
    assert (place, main) == (staging / "names", tmp_path / PARTS[0])


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system which file is synced")
def test_the_old_output_is_away_on_disk_before_the_new_one_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(tmp_path, "old")
    synced: list[list[str]] = []  # what was seen each time that the folder's names were

    def fsync(file: int) -> None:
        if Path(os.readlink(f"/proc/self/fd/{file}")) == tmp_path:
            synced.append(names(tmp_path)[1:])

    monkeypatch.setattr(atomic.os, "fsync", fsync)
    publish(tmp_path, "new")
    assert synced == [[], sorted(PARTS)]


def test_a_full_disk_is_told_in_a_sentence(tmp_path: Path) -> None:
    with (
        pytest.raises(VoileError, match="the disk is full; nothing was written"),
        Staging(tmp_path / "r", ANY),
    ):
        raise OSError(errno.ENOSPC, "said")
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system which file is synced")
def test_names_are_gone_from_the_disk_before_the_parts_that_they_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power cut between would have the next run take the old parts for new ones."""
    publish(tmp_path, "old")
    die_at(monkeypatch, 14, lambda: publish(tmp_path, "new"))
    staging = tmp_path / ".release.csv.voile"
    assert (staging / "names").exists()
    log: list[str] = []

    def fsync(file: int) -> None:
        if Path(os.readlink(f"/proc/self/fd/{file}")) == staging:
            log.append(f"synced with{'out' * (not (staging / 'names').exists())} names")

    def rmtree(path: Path, **more: bool) -> None:
        log.append(f"removed {path.name}")
        shutil.rmtree(path, **more)

    monkeypatch.setattr(atomic.os, "fsync", fsync)
    monkeypatch.setattr(atomic, "shutil", SimpleNamespace(rmtree=rmtree))
    assert die_at_once(tmp_path) == "old"
    assert log[:2] == ["synced without names", "removed new"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system which files are open")
def test_no_file_stays_open(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    before = os.listdir("/proc/self/fd")
    publish(tmp_path, "two")
    assert os.listdir("/proc/self/fd") == before


def die_at(monkeypatch: pytest.MonkeyPatch, stop: int, act: Callable[[], object]) -> bool:
    """Act in a child that ends itself, by _exit, before its step number `stop`."""
    child = os.fork()
    if not child:
        try:
            steps = iter(range(1_000))

            def before(call: Callable[..., None]) -> Callable[..., None]:
                def step(*args: object, **more: object) -> None:
                    if next(steps) == stop:
                        os._exit(9)
                    call(*args, **more)

                return step

            monkeypatch.setattr(atomic.os, "rename", before(os.rename))
            monkeypatch.setattr(atomic.os, "fsync", before(os.fsync))
            monkeypatch.setattr(atomic.shutil, "rmtree", before(atomic.shutil.rmtree))
            act()
            os._exit(0)
        finally:
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, 9)
    return ended == 9


def die_at_once(folder: Path) -> str | None:
    """Start the next run and give it up at once: what is seen then is what was put back."""
    with Staging(folder / PARTS[0], ANY, force=True):
        pass
    assert set(names(folder)) in ({*PARTS}, set())
    return seen(folder)


WRITER = f"""
import itertools, sys
from pathlib import Path
from voile.data.files.atomic import Staging
from voile.data.files.outputs import SUFFIXES, Output
PARTS = {PARTS}
ANY = Output("output", dict.fromkeys(SUFFIXES, lambda _: True))
{inspect.getsource(publish)}
print("ready", flush=True)
for i in itertools.count():
    publish(Path(sys.argv[1]), str(i))
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", WRITER, str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Ten times: kill -9 in an endless loop of writes; whole or none is seen, and a run works."""
    chance = random.Random(9)
    for turn in range(10):
        child = start(tmp_path)
        time.sleep(chance.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.wait()
        seen(tmp_path)
        publish(tmp_path, f"after {turn}")
        assert seen(tmp_path) == f"after {turn}"
        assert names(tmp_path) == sorted(PARTS)


def test_interrupted_by_ctrl_c(tmp_path: Path) -> None:
    publish(tmp_path, "before")
    for _ in range(4):
        child = start(tmp_path)
        time.sleep(0.05)
        child.send_signal(signal.SIGINT)
        child.wait()
        before = seen(tmp_path)
        assert die_at_once(tmp_path) == before
        assert before is not None


FILLER = """
import resource, sys
from pathlib import Path
from voile.core.errors import VoileError
from voile.data.files.atomic import Staging
from voile.data.files.outputs import Output
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
out = Path(sys.argv[1])
try:
    with Staging(out, Output("output", {"": Path.exists}), force=True) as staging:
        if out.suffix == ".csv":
            staging.part(out).write_bytes(bytes(200_000))
        else:
            import pyarrow as pa
            from voile.data import open_writer
            table = pa.table({"n": list(range(400_000))})
            with open_writer(staging.part(out), table.schema) as writer:
                for batch in table.to_batches(max_chunksize=50_000):
                    writer.write(batch)
        staging.commit()
except VoileError as error:
    print(error)
"""


@pytest.mark.parametrize("end", [".csv", ".parquet", ".arrow"])
def test_a_file_beyond_its_limit_leaves_the_old_output(tmp_path: Path, end: str) -> None:
    out = tmp_path / f"r{end}"
    out.write_text("old")
    command = [sys.executable, "-c", FILLER, str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.endswith("the disk is full; nothing was written\n")
    assert out.read_text() == "old"
    assert names(tmp_path) == [out.name]


@pytest.mark.parametrize(
    ("error", "full"),
    [
        (OSError(errno.ENOSPC, "said"), True),
        (OSError(errno.EDQUOT, "said"), True),
        (OSError(errno.EFBIG, "said"), True),
        (RuntimeError("IO Error: No space left on device"), True),
        (RuntimeError("Error writing bytes to file: File too large"), True),
        (OSError(errno.EACCES, "said"), False),
        (RuntimeError("said"), False),
    ],
)
def test_a_full_disk_is_known_by_its_number_or_an_engine_s_words(
    error: Exception, full: bool
) -> None:
    assert atomic.is_full(error) == full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("end", [".csv", ".parquet", ".arrow", ".jsonl", ".duckdb"])
def test_a_disk_that_fills_leaves_the_old_output(small_disk: Path, end: str) -> None:
    out = small_disk / f"r{end}"
    out.write_text("old")
    chance = random.Random(1)
    table = pa.table({"n": [chance.getrandbits(62) for _ in range(400_000)]})
    with pytest.raises(VoileError, match="the disk is full; nothing was written"):
        stage(out, table)
    assert out.read_text() == "old"
    assert names(small_disk) == [out.name]


def stage(out: Path, table: pa.Table) -> None:
    with Staging(out, ANY, force=True) as staging:
        with open_writer(staging.part(out), table.schema) as writer:
            for batch in table.to_batches(max_chunksize=50_000):
                writer.write(batch)
        staging.commit()
