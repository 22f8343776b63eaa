"""Processes that work for another, and end when it does: it may be killed, and say nothing."""

from __future__ import annotations

import os
import signal
import sys
import time
from multiprocessing import parent_process
from threading import Thread

PR_SET_PDEATHSIG = 1
EVERY = 1.0  # seconds between two looks at the parent


def begin_worker() -> None:
    """Begin a worker: it ends with its parent, and leaves Ctrl-C to it.

    On Linux the kernel ends it, whatever it is at. A thread does so everywhere, once compiled code
    lets it run: also where the parent was killed before the kernel was asked.
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
