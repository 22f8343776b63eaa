"""Run commands of voile under strace: list system calls on an output, and kill at one of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

CALLS = "rename,renameat,renameat2,fsync,fdatasync,unlink,unlinkat,rmdir"
CALL = re.compile(r"(?P<process>\d+) +(?P<name>\w+)\((?P<rest>.*)")
WITHIN = 120  # seconds


@dataclass(frozen=True)
class Point:
    """The n-th call of this name that the command's own thread makes, from 1."""

    call: str
    number: int


class Tracer:
    """Runs commands in children of one process, traced."""

    def __init__(self, folder: Path, *, working: Path | None = None) -> None:
        self._log = folder / "strace"
        self._server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("forking.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=working,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path))},
        )

    def close(self) -> None:
        """End the process."""
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(WITHIN)

    def run(self, words: Sequence[object]) -> int:
        """Run a command, untraced; return its exit code."""
        self.start(words)
        return self.ended()

    def start(self, words: Sequence[object]) -> int:
        """Start a command, untraced; return its process."""
        child = self._start(words)
        os.kill(child, signal.SIGCONT)
        return child

    def ended(self) -> int:
        """Wait for what was started to end; return its exit code."""
        return self._answer()

    def points(
        self, words: Sequence[object], folder: Path, *, calls: str = CALLS, ends: int = 0
    ) -> list[Point]:
        """Run a command, and return the calls that it makes on anything in a folder.

        ends : the exit code of the command.
        """
        child, code = self._traced(words, f"trace={calls}")
        assert code == ends, words
        made: Counter[str] = Counter()
        points = []
        for line in self._log.read_text(errors="replace").splitlines():
            found = CALL.match(line)
            if found is None or int(found["process"]) != child:
                continue
            made[found["name"]] += 1
            if str(folder) in found["rest"]:
                points.append(Point(found["name"], made[found["name"]]))
        return points

    def kill(self, words: Sequence[object], point: Point) -> bool:
        """Run a command and kill it at a point; say whether it came there."""
        inject = f"inject={point.call}:signal=KILL:when={point.number}"
        return self._traced(words, inject)[1] == -signal.SIGKILL

    def _traced(self, words: Sequence[object], expression: str) -> tuple[int, int]:
        child = self._start(words)
        tracer = subprocess.Popen(
            ["strace", "-f", "-qq", "-y", "-o", self._log, "-p", str(child), "-e", expression],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _await(lambda: "TracerPid:\t0" not in Path(f"/proc/{child}/status").read_text())
        os.kill(child, signal.SIGCONT)
        code = self._answer()
        tracer.wait(WITHIN)
        return child, code

    def _start(self, words: Sequence[object]) -> int:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps([str(word) for word in words]) + "\n")
        self._server.stdin.flush()
        child = self._answer()
        _await(lambda: "State:\tT" in Path(f"/proc/{child}/status").read_text())
        return child

    def _answer(self) -> int:
        assert self._server.stdout is not None
        return int(self._server.stdout.readline())


def _await(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + WITHIN
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.001)


def check_strace() -> None:
    """Skip where strace cannot trace, as in some containers; fail where it is required."""
    reason = "there is no strace"
    if shutil.which("strace"):
        tried = subprocess.run(
            ["strace", "-o", os.devnull, "true"], capture_output=True, check=False
        )
        if not tried.returncode:
            return
        reason = "strace may not trace here"
    if "strace" in os.environ.get("VOILE_REQUIRE", ""):
        pytest.fail(reason)
    pytest.skip(reason)
