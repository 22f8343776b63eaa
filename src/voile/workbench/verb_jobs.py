"""Child processes that run verbs, one for each verb, with progress, results and Stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import IO, Any

from voile.core.errors import RequestError, VoileError

PROGRESS = '{"progress": '
WARNING = "voile: warning: "
READING = re.compile(r": (http://127\.0\.0\.1:[0-9]+/#\S+)$")
OFTEN = 0.2  # the interval in seconds between checks of an adopted process


class AdoptedProcess:
    """A running verb that an earlier server of the project started."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def wait(self) -> int:
        """Wait for the end of the verb and return 0.

        Only the parent process can read its exit code.
        """
        while is_running(self.pid):
            time.sleep(OFTEN)
        return 0

    def send_signal(self, number: int) -> None:
        """Send a signal to the verb."""
        if is_running(self.pid):
            os.kill(self.pid, number)


@dataclass
class VerbJob:
    """A verb that is running or has ended.

    Parameters
    ----------
    step : the step with the button that started the verb.
    words : the words after `voile`.
    """

    step: str
    words: tuple[str, ...]
    process: subprocess.Popen[bytes] | AdoptedProcess
    output: IO[bytes]
    messages: IO[bytes]
    began: float = field(default_factory=time.monotonic)
    state: str = "running"
    seconds: float = 0.0
    error: dict[str, str | None] | None = None
    result: Any = None

    def describe(self) -> dict[str, Any]:
        """Return facts about the verb for the page."""
        is_running = self.state == "running"
        return {
            "step": self.step,
            "verb": " ".join(one for one in self.words[:2] if not one.startswith("-")),
            "state": self.state,
            "seconds": round(time.monotonic() - self.began if is_running else self.seconds),
            "error": self.error,
            "reading": str(self.process.pid) if self.reading_address else "",
            "progress": _read_progress(self._lines()),
            "warnings": [one[len(WARNING) :] for one in self._lines() if one.startswith(WARNING)],
        }

    @property
    def reading_address(self) -> str | None:
        """The address that the running verb printed for its reader, or None if there is none."""
        if self.state != "running":
            return None
        found = (READING.search(line) for line in self._lines())
        return next((one[1] for one in found if one), None)

    def _lines(self) -> list[str]:
        size = os.fstat(self.messages.fileno()).st_size
        return os.pread(self.messages.fileno(), size, 0).decode("utf-8", "replace").splitlines()

    def end(self, code: int) -> None:
        """Read the result of the finished process."""
        self.seconds = time.monotonic() - self.began
        self.result, self.error = read_result(self.output, self._lines(), code)
        if self.state == "stopping" and self.error is not None:
            self.state = "stopped"
        else:
            self.state = "failed" if self.error else "done"


class VerbJobs:
    """The verbs of a project's folder, which run one at a time.

    Parameters
    ----------
    finish : a function that receives each finished job before the page displays its end.
    """

    def __init__(self, folder: Path, finish: Callable[[VerbJob], None]) -> None:
        self._folder, self._finish = folder, finish
        self._lock = Lock()
        self.last: VerbJob | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a verb is running."""
        return self.last is not None and self.last.state in ("running", "stopping")

    def start(self, step: str, words: Sequence[str]) -> VerbJob:
        """Start a verb, which continues if the page closes.

        Raises
        ------
        RequestError : another verb is running.
        """
        with self._lock:
            self.check_idle()
            output, messages = TemporaryFile(), TemporaryFile()  # noqa: SIM115 - the job has them
            process = start_verb(self._folder, words, output, messages)
            self.last = VerbJob(step, tuple(words), process, output, messages)
        Thread(target=self._wait, args=(self.last,), daemon=True).start()
        return self.last

    def adopt(self, step: str, command: str, pid: int) -> None:
        """Follow a verb that an earlier server started."""
        words = tuple(command.split()[1:])
        output, messages = TemporaryFile(), TemporaryFile()  # noqa: SIM115 - the job has them
        self.last = VerbJob(step, words, AdoptedProcess(pid), output, messages)
        Thread(target=self._wait, args=(self.last,), daemon=True).start()

    def check_idle(self) -> None:
        """Raise RequestError if a verb is running."""
        if self.is_busy:
            assert self.last is not None
            what = f"voile {' '.join(self.last.words[:2])} is running"
            raise RequestError(what, instead="wait for its end, or stop it")

    def stop(self) -> None:
        """Interrupt the verb, like Ctrl-C. A fit keeps the policies found so far."""
        if self.last is not None and self.last.state == "running":
            self.last.state = "stopping"
            self.last.process.send_signal(signal.SIGINT)

    def _wait(self, job: VerbJob) -> None:
        code = job.process.wait()
        ended = VerbJob(**vars(job))
        ended.end(code)
        try:
            self._finish(ended)
        except (VoileError, OSError) as error:
            ended.error = {"what": _sentence(error), "where": None, "instead": None}
            ended.state = "failed"
        self.last = ended


def is_running(pid: object) -> bool:
    """Return whether a process is a running verb of voile."""
    if not isinstance(pid, int):
        return False
    system = Path("/proc")
    if system.is_dir():  # in /proc, a zombie process has no command line
        try:
            return b"voile" in (system / str(pid) / "cmdline").read_bytes()
        except OSError:
            return False
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def run_verb(folder: Path, words: Sequence[str]) -> Any:
    """Run a verb that only reads, and return its JSON result.

    Raises
    ------
    RequestError : the verb failed. The message is the verb's own.
    """
    with TemporaryFile() as output, TemporaryFile() as messages:
        code = start_verb(folder, words, output, messages).wait()
        result, error = read_result(output, [], code)
    if error is not None:
        raise RequestError(str(error["what"]), where=error["where"], instead=error["instead"])
    return result


def start_verb(
    folder: Path, words: Sequence[str], output: IO[bytes], messages: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start `voile` with these words, in a process session with its own interrupts."""
    return subprocess.Popen(
        [sys.executable, "-m", "voile", *words, "--json"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=messages,
        env={**os.environ, "VOILE_PROGRESS": "json"},
        start_new_session=True,
    )


def read_result(
    output: IO[bytes], lines: Sequence[str], code: int
) -> tuple[Any, dict[str, str | None] | None]:
    """Return a verb's JSON result, or its error."""
    output.seek(0)
    text = output.read().decode("utf-8", "replace").strip()
    try:
        data = json.loads(text.splitlines()[-1]) if text else None
    except json.JSONDecodeError:
        data = None
    if isinstance(data, dict) and isinstance(data.get("error"), dict):
        return None, data["error"]
    if code == 0 or (data is not None and code in (1, 130)):
        return data, None
    said = next((one for one in reversed(lines) if one.startswith("voile: ")), "")
    what = said.removeprefix("voile: ") or f"the verb ended with code {code}"
    return None, {"what": what, "where": None, "instead": None}


def _read_progress(lines: Sequence[str]) -> Any:
    """Return the verb's last complete line of progress."""
    for line in reversed(lines):
        if line.startswith(PROGRESS) and line.endswith("}}"):
            return json.loads(line)["progress"]
    return None


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"the history cannot be written: {error.strerror}"
    return str(error)
