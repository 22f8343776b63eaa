"""`voile signals receive`: the clinic's end of `voile signals send`."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli.channel import classes_in, line_of, line_options, sequences_of
from voile.cli.destination import Destination
from voile.cli.parameters import Command, argument, open_told, place, reading
from voile.cli.screen import Screen, count

if TYPE_CHECKING:
    from voile.io import Source
    from voile.signals.channel.recipient import Recipient, Subject
    from voile.signals.content import Content

REFUSED = 1


def receive(kind: str) -> click.Command:
    """Return the command."""

    def run(
        screen: Screen,
        *,
        kit: str,
        classes: str,
        out: Path,
        idle: float | None,
        key_file: Path | None,
        topic: str,
        table: str | None,
        encoding: str | None,
        **line: Any,
    ) -> int:
        """Receive readings live, and decode them, until stopped.

        Writes FOLDER/readings.jsonl, a line for each reading, before its receipt goes back. The
        folder also holds what is known of each session: run the same command again, and it goes
        on. Exits with 1 when messages were refused.
        """
        from voile.signals.channel import Link, Recipient, collect

        content, codec = sequences_of(kit, kind)
        broker, login = line_of(screen, **line)
        known = _subjects(content, open_told(screen, classes, table, encoding), key_file)
        names = content.reading.columns
        words = {form.column: form.settings.ordinal for form in content.reading.forms}
        ordinal = {name: order for name, order in words.items() if order is not None}
        with Recipient(out, codec, known, names, ordinal) as recipient:
            client = recipient.store.client
            boxes: Any = {"hears": "readings", "posts": "receipts"}
            with Link(broker, login, client, topic=topic, **boxes) as link, _stop(idle) as stop:
                screen.say(f"{out}: receiving; Ctrl-C ends it")
                collect(recipient, link, stop=lambda: stop(recipient.received), tell=screen.insist)
            return _told(screen, recipient, out)

    said = "The class of each subject: of each pseudonym, unless there is a key."
    known = place("classes", "CLASSES", said)
    idle = click.Option(
        ["--idle"], type=click.FloatRange(0), help="Stop after so many seconds without a reading."
    )
    kept = "Where readings and what is known of each session are kept."
    own = [
        argument("kit"),
        known,
        Destination("--out", "FOLDER", None, help=kept),
        *line_options(),
        idle,
        *reading(),
    ]
    return Command("receive", run, own)


def _subjects(content: Content, classes: Source, key_file: Path | None) -> dict[str, Subject]:
    """Return per pseudonym whose it is, from a table of subjects and classes."""
    from voile.pseudonyms import pseudonym
    from voile.secret import Secret
    from voile.signals.channel.recipient import Subject

    secret = Secret.from_file(key_file) if key_file else None
    return {
        pseudonym(secret, who) if secret else who: Subject(label, who)
        for who, label in classes_in(content, classes).items()
    }


@contextmanager
def _stop(idle: float | None) -> Iterator[Callable[[int], bool]]:
    """Give what says when to stop: asked to by a signal, or after so long without a reading."""
    asked = []
    old = {
        one: signal.signal(one, lambda *_: asked.append(True))
        for one in (signal.SIGINT, signal.SIGTERM)
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


def _told(screen: Screen, recipient: Recipient, out: Path) -> int:
    """Say what has come; return the exit code."""
    refused = recipient.refused.total()
    screen.say(f"{out}: {count(recipient.received, 'reading')} received")
    if refused:
        screen.insist(f"{count(refused, 'message')} refused")
    screen.result({"folder": str(out), "received": recipient.received, "refused": refused})
    return REFUSED if refused else 0
