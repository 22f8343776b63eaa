"""What the commands share by which readings travel: the broker, the map, the known classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from voile.cli.parameters import flag, load_kit, path, place
from voile.cli.screen import Screen
from voile.core.errors import RequestError, nearest

if TYPE_CHECKING:
    from voile.data import Source
    from voile.keys.secret import Secret
    from voile.signals.channel import Broker, Login
    from voile.signals.sequences import SequenceCodec
    from voile.signals.verbs.content import Content

LAST = (1 << 16) - 1  # the last generation of keys
OWN = ("subject", "session", "number")  # what each line of the clinic's file says first
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
        flag("encrypt", "Encrypt messages and receipts from end to end; at both ends or neither."),
    ]


def known_options() -> list[click.Parameter]:
    """Say who is enrolled, and under which keys."""
    return [
        place("classes", "CLASSES", "The class of each subject."),
        click.Option(
            ["--generation"],
            metavar="COLUMN",
            help="Column of CLASSES that numbers each subject's key, from 1 up [all 1].",
        ),
        path("key-file", "File with the secret of pseudonyms and keys [variable VOILE_SECRET]."),
    ]


def secret_of(key_file: Path | None) -> Secret:
    """Read the secret: from a file, else from the environment."""
    from voile.keys.secret import Secret

    return Secret.from_file(key_file) if key_file else Secret.from_environment()


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
    from voile.signals.verbs.content import Content

    content = Content.of(load_kit(Path(kit), kind))
    if content.sequence_codec is None:
        raise RequestError(
            "the kit holds no map of sequences", where=kit, instead="fit with --time COLUMN"
        )
    return content, content.sequence_codec


def live_of(kit: str, kind: str) -> tuple[Content, SequenceCodec]:
    """Load a kit to send or receive by: none of its columns is hidden in the clinic's lines."""
    content, codec = sequences_of(kit, kind)
    told = {*content.reading.columns, *content.reading.roles.of("keep")}
    if taken := [name for name in OWN if name in told]:
        raise RequestError(
            f"a column is called {taken[0]}, as one that the clinic's file has of its own",
            where=kit,
            instead="rename it in the source and fit again",
        )
    return content, codec


class Known(NamedTuple):
    """What a clinic knows of a subject: her class, and the number of her device's key."""

    label: str
    generation: int = 1


def subjects_in(
    content: Content, classes: Source, generation: str | None = None
) -> dict[str, Known]:
    """Return each subject's class and key, from a table with the columns of the kit's source."""
    from voile.signals.readings.sources import subjects_of

    names = [content.reading.subject, content.reading.private]
    names += [generation] if generation else []
    for name in names:
        if name not in classes.columns:
            remedy = nearest(name, classes.columns)
            raise RequestError(f"there is no column {name}", where=classes.name, instead=remedy)
    found: dict[str, Known] = {}
    row = 0
    for batch in classes.batches(names):
        subjects = subjects_of(batch.column(names[0]))
        labels = content.reading.classes(batch.column(names[1]))
        numbers = batch.column(names[2]).to_pylist() if generation else [1] * len(batch)
        for who, label, number in zip(subjects, labels, numbers, strict=True):
            row += 1
            each = Known(label, _generation(number))
            if wrong := _wrong(who, each, found, content.classes):
                raise RequestError(wrong, where=f"{classes.name}, row {row:,}")
            found[who] = each
    return found


def classes_in(content: Content, classes: Source) -> dict[str, str]:
    """Return each subject's class."""
    return {who: each.label for who, each in subjects_in(content, classes).items()}


def _generation(number: object) -> int:
    """Return the number of a key, 0 where it is none."""
    text = str(number)
    return int(text) if re.fullmatch("[0-9]{1,5}", text) and int(text) <= LAST else 0


def _wrong(who: str | None, each: Known, found: dict[str, Known], seen: Sequence[str]) -> str:
    """Say what is wrong with a row of the table of classes, if anything is."""
    if who is None or each.label is None:
        return "a row has no subject or no class"
    if each.label not in seen:
        return "the map has not seen a class"
    if not each.generation:
        return "the generation of a key is no whole number from 1 to 65535"
    if found.get(who, each).label != each.label:
        return "a subject is of two classes"
    return "a subject has two keys" if found.get(who, each) != each else ""
