"""Acknowledge Ctrl-C at once, even while compiled code runs or modules load."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from voile.core.errors import VoileError

STOPPING = "stopping; press Ctrl-C again to end at once"
CUT_SHORT = "interrupted; the kit contains the policies found so far"
SOON = 0.2  # seconds; work that ends sooner needs no acknowledgement
Handler = Callable[[int, FrameType | None], Any]


@contextmanager
def ctrl_c() -> Iterator[None]:
    """Raise KeyboardInterrupt after Ctrl-C, even if the interrupted code fails with another error.

    A kernel that runs or loads raises a SystemError. In a module that is not fully loaded, a name
    is missing.

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
def acknowledge_interruption(
    say: Callable[[str], None], leave: Callable[[], Any]
) -> Iterator[None]:
    """Acknowledge Ctrl-C if the work does not end soon, and call `leave` at the second Ctrl-C.

    A thread waits for bytes that the system's own signal handler writes. So both happen even while
    compiled code runs, provided that the code lets other threads run. The handler of the main
    thread runs later.

    Parameters
    ----------
    say : called with the text of the acknowledgement.
    leave : called to end the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard, pressed = socket.socketpair()
    pressed.setblocking(False)
    before = signal.set_wakeup_fd(pressed.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_acknowledge, args=(heard, say, leave), daemon=True).start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        pressed.close()


def _acknowledge(
    heard: socket.socket, say: Callable[[str], None], leave: Callable[[], Any]
) -> None:
    with heard:
        if not _is_pressed(heard):
            return
        heard.settimeout(SOON)
        try:
            again = _is_pressed(heard)
        except TimeoutError:
            say(STOPPING)
            heard.settimeout(None)
            again = _is_pressed(heard)
        if again:
            leave()


def _is_pressed(heard: socket.socket) -> bool:
    """Wait for Ctrl-C. Return False if the work ended without one."""
    while number := heard.recv(1):
        if number[0] == signal.SIGINT:
            return True
    return False


@contextmanager
def own_ctrl_c() -> Iterator[None]:
    """Restore the handler of Ctrl-C after a library starts.

    Spark's handler waits for a busy Java.
    """
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def _handled_by(handler: Handler) -> Iterator[Handler]:
    """Set a handler for Ctrl-C, then restore the previous one. An ignored Ctrl-C stays ignored."""
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield signal.default_int_handler
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield before
    finally:
        signal.signal(signal.SIGINT, before)
