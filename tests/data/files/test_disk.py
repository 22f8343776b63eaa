"""What is on the disk at each step, and what a full disk leaves."""

from __future__ import annotations

import errno
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from tests.data.files.killing import die_at, die_at_once
from tests.data.files.parts import ANY, PARTS, names, publish

import voile.data.files.atomic as atomic
from voile.core.errors import VoileError
from voile.data import open_writer
from voile.data.files.atomic import Staging


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
    monkeypatch.setattr(atomic.os, "replace", rename)
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
        pytest.raises(
            VoileError,
            match="the disk is full, and voile wrote nothing; free space, or write to another disk",
        ),
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


FILLER = """
import resource, sys
from pathlib import Path
from voile.core.errors import VoileError
from voile.data.files.atomic import Staging
from voile.data.files.outputs import OutputKind
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
out = Path(sys.argv[1])
try:
    with Staging(out, OutputKind("an output", {"": Path.exists}), force=True) as staging:
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


@pytest.mark.whole
@pytest.mark.parametrize("end", [".csv", ".parquet", ".arrow"])
def test_a_file_beyond_its_limit_leaves_the_old_output(tmp_path: Path, end: str) -> None:
    out = tmp_path / f"r{end}"
    out.write_text("old")
    command = [sys.executable, "-c", FILLER, str(out)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.endswith(
        "the disk is full, and voile wrote nothing; free space, or write to another disk\n"
    )
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


@pytest.mark.whole
@pytest.mark.parametrize("end", [".csv", ".parquet", ".arrow", ".jsonl", ".duckdb"])
def test_a_disk_that_fills_leaves_the_old_output(small_disk: Path, end: str) -> None:
    out = small_disk / f"r{end}"
    out.write_text("old")
    chance = random.Random(1)
    table = pa.table({"n": [chance.getrandbits(62) for _ in range(400_000)]})
    with pytest.raises(
        VoileError,
        match="the disk is full, and voile wrote nothing; free space, or write to another disk",
    ):
        stage(out, table)
    assert out.read_text() == "old"
    assert names(small_disk) == [out.name]


def stage(out: Path, table: pa.Table) -> None:
    with Staging(out, ANY, force=True) as staging:
        with open_writer(staging.part(out), table.schema) as writer:
            for batch in table.to_batches(max_chunksize=50_000):
                writer.write(batch)
        staging.commit()
