"""What the commands share by which readings travel: the broker, the map, the known classes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from voile.cli.parameters import load_kit, path
from voile.cli.screen import Screen
from voile.errors import RequestError, nearest

if TYPE_CHECKING:
    from voile.io import Source
    from voile.signals.channel import Broker, Login
    from voile.signals.content import Content
    from voile.signals.sequences import SequenceCodec

NEAR = ("localhost", "127.0.0.1", "::1")


def line_options() -> list[click.Parameter]:
    """Say where the broker is, and how it is reached."""
    return [
        click.Option(
            ["--broker"],
            metavar="URL",
            required=True,
            help="mqtts://host:8883, or mqtt://host:1883 without TLS.",
        ),
        click.Option(
            ["--topic"],
            default="voile",
            help="What topics begin with, before the pseudonym [voile].",
        ),
        path(
            "login-file", "A line of user and one of password, else VOILE_MQTT_USER and _PASSWORD."
        ),
        path("tls-ca", "Certificates to trust instead of the system's."),
        path("tls-cert", "Certificate to show to the broker."),
        path("tls-key", "Its key, where the certificate's file does not hold it."),
        path("key-file", "File with the secret that makes pseudonyms of subjects."),
    ]


def line_of(screen: Screen, **given: Any) -> tuple[Broker, Login | None]:
    """Return the broker and the login; warn where a password would be overheard."""
    from voile.signals.channel import Broker, Login

    broker = Broker.parse(
        given["broker"], ca=given["tls_ca"], cert=given["tls_cert"], key=given["tls_key"]
    )
    file: Path | None = given["login_file"]
    login = Login.from_file(file) if file else Login.from_environment()
    if login and not broker.tls and broker.host not in NEAR:
        screen.insist("the password goes over the network unencrypted; write mqtts:// for TLS")
    return broker, login


def sequences_of(kit: str, kind: str) -> tuple[Content, SequenceCodec]:
    """Load a kit that holds a map of sequences."""
    from voile.signals.content import Content

    content = Content.of(load_kit(Path(kit), kind))
    if content.sequence_codec is None:
        raise RequestError(
            "the kit holds no map of sequences", where=kit, instead="fit with --time COLUMN"
        )
    return content, content.sequence_codec


def classes_in(content: Content, classes: Source) -> dict[str, str]:
    """Return each subject's class, from a table with the columns that the kit was fitted to."""
    from voile.signals.readings.sources import subjects_of

    names = [content.reading.subject, content.reading.private]
    for name in names:
        if name not in classes.columns:
            remedy = nearest(name, classes.columns)
            raise RequestError(f"there is no column {name}", where=classes.name, instead=remedy)
    found: dict[str, str] = {}
    row = 0
    for batch in classes.batches(names):
        subjects = subjects_of(batch.column(names[0]))
        labels = content.reading.classes(batch.column(names[1]))
        for who, label in zip(subjects, labels, strict=True):
            row += 1
            if wrong := _wrong(who, label, found, content.classes):
                raise RequestError(wrong, where=f"{classes.name}, row {row:,}")
            found[who] = label
    return found


def _wrong(who: str | None, label: str | None, found: dict[str, str], seen: Sequence[str]) -> str:
    """Say what is wrong with a row of the table of classes, if anything is."""
    if who is None or label is None:
        return "a row has no subject or no class"
    if label not in seen:
        return "the map has not seen a class"
    return "a subject is of two classes" if found.get(who, label) != label else ""
