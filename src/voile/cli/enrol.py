"""`voile signals enrol`: what a device is given, so that it needs no secret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from voile.cli.channel import known_options, live_of, secret_of, subjects_in
from voile.cli.parameters import Command, argument, open_told, out, reading
from voile.cli.screen import Screen, count
from voile.core.errors import RequestError
from voile.data.files.outputs import ENROLMENT


def enrol(kind: str) -> click.Command:
    """Return the command."""

    def run(
        screen: Screen,
        *,
        kit: str,
        classes: str,
        generation: str | None,
        key_file: Path | None,
        subject: Sequence[str],
        out: Path,
        table: str | None,
        encoding: str | None,
        force: bool,
    ) -> None:
        """Write the keys with which one device proves and encrypts what it sends.

        The device receives this file and the kit, never the secret. A thief of the file can forge
        and decrypt the messages of its own subjects, and of nobody else. Without --subject the
        device sends for all subjects of CLASSES, as a gateway does. To replace a key, raise its
        generation.
        """
        from voile.signals.channel import Enrolment

        content, codec = live_of(kit, kind)
        known = subjects_in(content, open_told(screen, classes, table, encoding), generation)
        if absent := [who for who in subject if who not in known]:
            where = f"--subject, {len(absent)} of {len(subject)}"
            raise RequestError(f"a subject is not in {classes}", where=where)
        own = {who: known[who].generation for who in subject or known}
        Enrolment.of(secret_of(key_file), codec.mark, own).write(out, force=force)
        screen.say(f"{out}: {count(len(own), 'subject')} enrolled; give it to their device alone")
        screen.result({"enrolment": str(out), "subjects": len(own)})

    whose = click.Option(
        ["--subject"],
        metavar="SUBJECT",
        multiple=True,
        help="A subject that the device sends for. Repeatable [all].",
    )
    own = [argument("kit"), *known_options(), whose, *out("ENROLMENT", ENROLMENT), *reading()]
    return Command("enrol", run, own)
