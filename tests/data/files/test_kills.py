"""Whatever kills a run, what is seen is the whole old output, or the whole new one, or none."""

from __future__ import annotations

import inspect
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.data.files.killing import die_at, die_at_once
from tests.data.files.parts import PARTS, names, publish, seen


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


pytestmark = pytest.mark.whole
WRITER = f"""
import itertools, sys
from pathlib import Path
from voile.data.files.atomic import Staging
from voile.data.files.outputs import SUFFIXES, OutputKind
PARTS = {PARTS}
ANY = OutputKind("an output", dict.fromkeys(SUFFIXES, lambda _: True))
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
