"""Ctrl-C, also while compiled code runs and modules load."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from voile.core.errors import VoileError

INTERRUPTED = "interrupted; no output is half-written"
Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def ctrl_c() -> Iterator[None]:
    """Raise Ctrl-C as itself: what it cuts short may fail in another way.

    A kernel that runs or loads raises a SystemError; a module that is half loaded lacks a name.

    >>> try:
    ...     with ctrl_c():
    ...         raise SystemError from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     "interrupted"
    'interrupted'
    """
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        before(number, frame)

    with _handled_by(press) as before:
        try:
            yield
        except (ArithmeticError, AttributeError, ImportError, LookupError, RuntimeError,
                SystemError, TypeError, ValueError) as error:  # fmt: skip
            cut = pressed or isinstance(error.__cause__, KeyboardInterrupt)
            if cut and not isinstance(error, VoileError):
                raise KeyboardInterrupt from None
            raise


@contextmanager
def leaving_at_ctrl_c() -> Iterator[None]:
    """End the process at Ctrl-C, with a sentence: nothing is at work yet."""

    def leave(_: int, __: FrameType | None) -> NoReturn:
        os.write(2, f"voile: {INTERRUPTED}\n".encode())
        if "--json" in sys.argv:
            said = {"what": INTERRUPTED, "where": None, "instead": None}
            os.write(1, json.dumps({"error": said}).encode() + b"\n")
        os._exit(130)

    with _handled_by(leave):
        yield


@contextmanager
def _handled_by(handler: Handler) -> Iterator[Handler]:
    """Give Ctrl-C to a handler, and the one before it back; where it is ignored, it stays so."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield signal.default_int_handler
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield before
    finally:
        signal.signal(signal.SIGINT, before)
