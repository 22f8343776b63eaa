"""Processes that work for another, and end with it, even if it is killed without notice."""

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
EVERY = 1.0  # seconds between two looks at the parent


@contextmanager
def starting_workers() -> Iterator[None]:
    """Let processes that begin here never hear Ctrl-C, which a terminal sends to all of them.

    They inherit that this thread is deaf to it; another one of this process hears it.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    ensure_running()  # it begins a process by itself, and hears everything afterwards
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def begin_worker() -> None:
    """Begin a worker: it ends with its parent, and leaves Ctrl-C to it.

    On Linux the kernel ends it during any work. A thread does so everywhere, once compiled code
    lets it run: also if the parent was killed before the kernel was asked.
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
