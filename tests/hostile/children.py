"""Try cases one by one in a process, so that a case that ends or blocks it is a finding."""

from __future__ import annotations

import json
import os
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Protocol

MEMORY = 6 << 30
SECONDS = 30.0
FIRST_SECONDS = 300.0  # to make what is to be damaged, and to compile
CANARY = "CANARY"
UNTOUCHED = -1


class Target(Protocol):
    """Something that voile reads: made once in a folder, then damaged and read again and again."""

    def make(self, folder: Path) -> None:
        """Write it as it should be."""

    def damage(self, folder: Path, scratch: Path, rng: random.Random) -> None:
        """Write a damaged copy."""

    def copy(self, folder: Path, scratch: Path) -> None:
        """Write a copy that is as it should be."""

    def read(self, scratch: Path) -> None:
        """Read the copy, and use it."""


class Child:
    """Asks a process of its own; starts another when that one ends."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def try_case(self, target: str, number: int) -> str:
        """Return what is wrong with how a case went; nothing for nothing."""
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(f"{target} {number}\n".encode())
        process.stdin.flush()
        answer = self._answer(FIRST_SECONDS if number == UNTOUCHED else SECONDS)
        return answer if isinstance(answer, str) else str(json.loads(answer))

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.hostile.children"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[2],
                env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"},
            )
        return self._process

    def _answer(self, seconds: float) -> bytes | str:
        assert self._process is not None
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], seconds)
        line = self._process.stdout.readline() if ready else b""
        if line:
            return line
        late = not ready
        self.end(signal.SIGKILL)
        return f"not read within {seconds:g} s" if late else f"ended the process: {self._code}"

    def end(self, how: signal.Signals | None = None) -> None:
        """End the process, by a signal or by giving it no more to do."""
        if self._process is not None:
            if how is not None and self._process.poll() is None:
                self._process.send_signal(how)
            for pipe in (self._process.stdin, self._process.stdout):
                assert pipe is not None
                with suppress(BrokenPipeError):
                    pipe.close()
            self._code = self._process.wait()
            self._process = None


def main() -> None:
    """Try each case that a line of standard input names, and answer with a line."""
    from tests.hostile.targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as place:
        made: set[str] = set()
        for line in sys.stdin:
            name, _, number = line.rpartition(" ")
            target, folder = TARGETS[name], Path(place) / str(sorted(TARGETS).index(name))
            if name not in made:
                folder.mkdir()
                with quiet():
                    target.make(folder)
                made.add(name)
            print(json.dumps(_tried(target, folder, name, int(number))), file=answers, flush=True)


def _tried(target: Target, folder: Path, name: str, number: int) -> str:
    with tempfile.TemporaryDirectory() as place:
        scratch = Path(place)
        if number == UNTOUCHED:
            target.copy(folder, scratch)
            return _went(lambda: target.read(scratch), refusable=False)
        target.damage(folder, scratch, random.Random(f"{name} {number}"))
        return _went(lambda: target.read(scratch), refusable=True)


def _went(read: Callable[[], None], *, refusable: bool) -> str:
    """Say what is wrong with how reading went: it may work, or be refused in one sentence."""
    from voile.core.errors import VoileError

    try:
        with quiet():
            read()
    except VoileError as error:
        said = str(error)
        if not refusable:
            return f"refused: {said}"
        if CANARY in said.upper():
            return f"a value is told by {_place(error)}: {said}"
        if "\n" in said or len(said) > 3000 or not said.isprintable():
            return f"no sentence, from {_place(error)}: {said[:300]!r}"
    except MemoryError as error:
        return f"out of memory at {_place(error)}"
    except BaseException as error:
        return f"{type(error).__name__} at {_place(error)}: {str(error)[:200]}"
    return ""


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [f"{Path(f.filename).name}:{f.lineno}" for f in frames if "voile" in f.filename]
    return " < ".join(reversed(own[-4:]))


@contextmanager
def quiet() -> Iterator[StringIO]:
    """Keep what is printed."""
    printed = StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        yield printed


if __name__ == "__main__":
    main()
