"""`voile signals receive`: the clinic's end of `voile signals send`."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli.channel import (
    known_options,
    line_of,
    line_options,
    live_of,
    secret_of,
    subjects_in,
)
from voile.cli.destination import Destination
from voile.cli.parameters import Command, argument, open_told, reading
from voile.cli.screen import Screen, count

if TYPE_CHECKING:
    from voile.data import Source
    from voile.keys.secret import Secret
    from voile.signals.channel.recipient import Recipient, Subject
    from voile.signals.verbs.content import Content

REFUSED = 1


def receive(kind: str) -> click.Command:
    """Return the command."""

    def run(
        screen: Screen,
        *,
        kit: str,
        classes: str,
        generation: str | None,
        overlap: datetime | None,
        out: Path,
        idle: float | None,
        key_file: Path | None,
        topic: str,
        encrypt: bool,
        table: str | None,
        encoding: str | None,
        **line: Any,
    ) -> int:
        """Receive readings live, and decode them, until stopped.

        Writes FOLDER/readings.jsonl, a line for each reading, before its receipt goes back;
        readings outside the map's range go to FOLDER/set-aside.jsonl. The folder also holds what is
        known of each session: run the same command again, and it goes on. Exits with 1 when
        messages were refused or ignored, or readings set aside.
        """
        from voile.signals.channel import Link, Recipient, collect

        content, codec = live_of(kit, kind)
        broker, login = line_of(screen, **line)
        secret = secret_of(key_file)
        opened = open_told(screen, classes, table, encoding)
        known = _subjects(content, opened, generation, secret)
        until = overlap.date() if overlap else None
        kept = content.reading.roles.of("keep")
        how: Any = {"kept": kept, "topic": topic, "encrypt": encrypt, "overlap": until}
        columns = [form.decoded for form in content.reading.forms]
        with Recipient(out, codec, known, columns, secret, **how) as recipient:
            with Link(broker, login, recipient) as link, _stop(idle) as stop:
                screen.say(f"{out}: receiving; Ctrl-C ends it")
                collect(recipient, link, stop=lambda: stop(recipient.received), tell=screen.insist)
            return _told(screen, recipient, out)

    overlap = click.Option(
        ["--overlap"],
        metavar="DATE",
        type=click.DateTime(["%Y-%m-%d"]),
        help="Last day on which a subject's key of the generation before is taken, too.",
    )
    idle = click.Option(
        ["--idle"], type=click.FloatRange(0), help="Stop after so many seconds without a reading."
    )
    kept = "Where readings and what is known of each session are kept."
    own = [
        argument("kit"),
        *known_options(),
        overlap,
        Destination("--out", "FOLDER", None, help=kept),
        *line_options(),
        idle,
        *reading(),
    ]
    return Command("receive", run, own)


def _subjects(
    content: Content, classes: Source, generation: str | None, secret: Secret
) -> dict[str, Subject]:
    """Return per pseudonym whose it is, from a table of subjects and classes."""
    from voile.keys.pseudonyms import pseudonym
    from voile.signals.channel.recipient import Subject

    return {
        pseudonym(secret, who): Subject(each.label, who, each.generation)
        for who, each in subjects_in(content, classes, generation).items()
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
    from voile.signals.channel.recipient import SET_ASIDE

    refused = sum(each.count for each in recipient.refused.values())
    wrong = {
        "refused": refused,
        "unauthenticated": recipient.unauthenticated,
        "set_aside": recipient.set_aside,
    }
    screen.say(f"{out}: {count(recipient.received, 'reading')} received")
    if refused:
        screen.insist(f"{count(refused, 'message')} refused")
    if recipient.unauthenticated:
        screen.insist(f"{count(recipient.unauthenticated, 'message')} without a valid MAC ignored")
    if recipient.set_aside:
        place = recipient.store.folder / SET_ASIDE
        screen.insist(f"{count(recipient.set_aside, 'reading')} outside the range, in {place}")
    screen.result({"folder": str(out), "received": recipient.received, **wrong})
    return REFUSED if any(wrong.values()) else 0
