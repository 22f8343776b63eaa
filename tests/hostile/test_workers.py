"""Test that workers end with their parent process, even if it is killed without notice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.documents.ward import note, put_lines

VOILE = [sys.executable, "-c", "from voile.cli import main; main()"]
ROLES = '[columns]\nnote = { role = "text", spans = "marks" }\nmarks = "label"\n'


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_workers_of_a_killed_fit_end(tmp_path: Path) -> None:
    rng = random.Random(3)
    rows = [dict(zip(("note", "marks"), note(rng), strict=True)) for _ in range(600)]
    put_lines(tmp_path / "notes.jsonl", rows)
    (tmp_path / "roles.toml").write_text(ROLES)
    words = ["documents", "fit", "notes.jsonl", "--roles", "roles.toml", "--out", "kit"]
    fit = subprocess.Popen(
        [*VOILE, *words, "--jobs", "2", "--learners", "crf", "--quiet"], cwd=tmp_path
    )
    try:
        wait_until(lambda: sum(used(one) > 1 for one in children(fit.pid)) >= 2)
        workers = children(fit.pid)
    finally:
        fit.send_signal(signal.SIGKILL)
        fit.wait()
    wait_until(lambda: not any(map(lives, workers)), seconds=5)


def children(parent: int) -> list[int]:
    return [
        int(one)
        for task in Path(f"/proc/{parent}/task").iterdir()
        for one in (task / "children").read_text().split()
    ]


def state(process: int) -> list[str]:
    """Return what /proc says of a process after its name; nothing of one that is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def lives(process: int) -> bool:
    return not {*state(process)[:1]} & {"Z", "X"} and bool(state(process))


def used(process: int) -> float:
    """Return the seconds that a process has worked."""
    return sum(map(int, state(process)[11:13])) / 100


def wait_until(holds, seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.1)
