"""Worker processes that end with their parent process, even if it is killed without notice."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.resource_tracker import ensure_running
from threading import Thread

PR_SET_PDEATHSIG = 1
EVERY = 1.0  # seconds between two checks of the parent


@contextmanager
def starting_workers() -> Iterator[None]:
    """Start worker processes with Ctrl-C blocked, because a terminal sends it to all processes.

    The workers inherit the blocked signal from this thread. Another thread of this process receives
    it.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    ensure_running()  # it starts its own process, and then unblocks all signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker() -> None:
    """Make this worker end with its parent process, and ignore Ctrl-C.

    On Linux the kernel ends the worker during any work. On all systems a thread does so, once
    compiled code lets it run. The thread also covers a parent that was killed before the kernel was
    asked.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if (parent := parent_process()) is not None:
        Thread(target=_end_with, args=(parent.pid,), daemon=True).start()


def _end_with(parent: int | None) -> None:
    while os.getppid() == parent:
        time.sleep(EVERY)
    os._exit(1)
