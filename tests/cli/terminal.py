"""A process on a terminal of its own, at which keys can be pressed."""

from __future__ import annotations

import os
import pty
import select
import sys
import time

CTRL_C = b"\x03"
PATIENCE = 120.0


class Terminal:
    """Python with these words; its standard output and error are one terminal.

    `text` is what was shown so far, control characters and all.
    """

    def __init__(self, *words: object) -> None:
        self._words = [sys.executable, *map(str, words)]
        self._shown = b""

    def __enter__(self) -> Terminal:
        self._process, self._file = pty.fork()
        if self._process == 0:
            os.environ |= {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "120"}
            os.execv(self._words[0], self._words)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    @property
    def text(self) -> str:
        return self._shown.decode(errors="replace").replace("\r\n", "\n")

    def press(self, key: bytes) -> None:
        os.write(self._file, key)

    def wait_for(self, text: str) -> None:
        ends = time.monotonic() + PATIENCE
        while text not in self.text:
            assert self.read(ends - time.monotonic()), self.text

    def end(self) -> int:
        """Read to the end; the exit code."""
        while self.read(PATIENCE):
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self._process, 0)[1])

    def read(self, seconds: float) -> bool:
        """Read what is shown within some seconds; False where nothing is."""
        if not select.select([self._file], [], [], max(seconds, 0))[0]:
            return False
        try:
            more = os.read(self._file, 1 << 16)
        except OSError:  # on Linux, of a process that is gone
            return False
        self._shown += more
        return bool(more)
