"""`voile signals receive`: the clinic's side of `voile signals send`."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from voile.core.wording import count
from voile.keys.pseudonyms import pseudonym
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter, open_reported
from voile.signals.channel import Link, Recipient, collect
from voile.signals.channel.broker import line_of
from voile.signals.channel.recipient import SET_ASIDE, ClinicSubject
from voile.signals.options import ReceiveOptions
from voile.signals.verbs.enrol import secret_of
from voile.signals.verbs.subjects import live_of, subjects_in

REFUSED = 1


def receive(
    options: ReceiveOptions,
    reporter: VerbReporter,
    *,
    kit: StoredKit | str,
    out: Path,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    """Receive readings until stopped. Each is on disk before its receipt is sent."""
    content, codec = live_of(kit)
    reader = content.reader
    broker, login = line_of(options, reporter.insist)
    secret = secret_of(options.key_file)
    opened = open_reported(reporter, options.classes, table=table, encoding=encoding)
    known = subjects_in(opened, reader, content.classes, generation=options.generation, sides=True)
    subjects = {
        pseudonym(secret, who): ClinicSubject(each.label, who, each.generation, each.known)
        for who, each in known.items()
    }
    with Recipient(
        out,
        codec,
        subjects,
        [form.decoded_limits for form in reader.forms],
        secret,
        kept=reader.roles.of("keep"),
        topic=options.topic,
        encrypt=options.encrypt,
        overlap=options.overlap,
    ) as recipient:
        with Link(broker, login, recipient) as link, _stop(options.idle) as stop:
            reporter.say(f"{out}: receiving; Ctrl-C ends it")
            collect(recipient, link, stop=lambda: stop(recipient.received), notify=reporter.insist)
        return _report_end(reporter, recipient, out)


@contextmanager
def _stop(idle: float | None) -> Iterator[Callable[[int], bool]]:
    """Yield a function that returns whether to stop.

    It returns true after a stop signal, or after `idle` seconds without a reading. In Python only
    the main thread receives signals. Another thread stops after the idle time only.
    """
    asked = []
    is_main = threading.current_thread() is threading.main_thread()
    old = {
        one: signal.signal(one, lambda *_: asked.append(True))
        for one in ((signal.SIGINT, signal.SIGTERM) if is_main else ())
    }
    last = [0, time.monotonic()]

    def stop(received: int) -> bool:
        if received != last[0]:
            last[:] = received, time.monotonic()
        return bool(asked) or (idle is not None and time.monotonic() - last[1] > idle)

    try:
        yield stop
    finally:
        for one, handler in old.items():
            signal.signal(one, handler)


def _report_end(reporter: VerbReporter, recipient: Recipient, out: Path) -> EndedVerb:
    wrong = {
        "refused": sum(each.count for each in recipient.refused.values()),
        "unauthenticated": recipient.unauthenticated,
        "set_aside": recipient.set_aside,
    }
    where = recipient.store.folder / SET_ASIDE
    sentences = {
        "refused": ("message", "refused"),
        "unauthenticated": ("message", "without a valid MAC ignored"),
        "set_aside": ("reading", f"outside the range, in {where}"),
    }
    reporter.say(f"{out}: {count(recipient.received, 'reading')} received")
    for name, (noun, what) in sentences.items():
        if wrong[name]:
            reporter.insist(f"{count(wrong[name], noun)} {what}")
    result = {"folder": str(out), "received": recipient.received, **wrong}
    return EndedVerb(result, REFUSED if any(wrong.values()) else 0)
