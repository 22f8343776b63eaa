"""A recipient at work in a thread of its own, and the line of one end."""

from __future__ import annotations

import threading

from tests.signals.channel.ends import (
    recipient,
)

from voile.core.errors import RequestError
from voile.signals.channel import Link, collect


def link(end, broker, login=None):
    """The line of one end."""
    return Link(broker, login, end, longest=1)


class Clinic:
    """A recipient at work in a thread of its own."""

    def __init__(self, folder, broker, login=None, **options):
        self.received, self.told, self.wrong = 0, [], None
        self._stopped, self._ready = False, threading.Event()
        self._thread = threading.Thread(target=self._work, args=(folder, broker, login, options))

    def _work(self, folder, broker, login, options):
        with recipient(folder, **options) as end, link(end, broker, login) as line:
            self._ready.set()
            try:
                collect(end, line, stop=lambda: self._stopped, notify=self.told.append)
            except RequestError as error:
                self.wrong = error
            self.received = end.received

    def __enter__(self):
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_):
        self._stopped = True
        self._thread.join()
