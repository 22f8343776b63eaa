"""`voile signals encode-fhir` and `decode-fhir`: readings where they stand in a file of FHIR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from voile.cli.channel import classes_in, sequences_of
from voile.cli.decode import ASIDE
from voile.cli.parameters import (
    Command,
    argument,
    flag,
    load_kit,
    open_told,
    out,
    path,
    place,
    reading,
)
from voile.cli.screen import Screen, count
from voile.core.errors import RequestError
from voile.data.files.outputs import READINGS, SET_ASIDE

if TYPE_CHECKING:
    from voile.signals.fhir import Counts
    from voile.signals.fhir.files import Others
    from voile.signals.fhir.ways import Way
    from voile.signals.verbs.content import Content


def encode_fhir(kind: str) -> click.Command:
    """Return the command that encodes."""

    def run(
        screen: Screen,
        *,
        kit: str,
        source: str,
        fields: Path,
        classes: str,
        policy: Path | None,
        keep_others: bool,
        out: Path,
        table: str | None,
        encoding: str | None,
        force: bool,
    ) -> None:
        """Encode the readings in a file of FHIR R4 Observations.

        SOURCE is NDJSON, or one resource or Bundle in JSON. Values are exchanged where they stand,
        and marked; every other byte stays, subjects among them. Readings of a subject are sent
        given those before, or with --policy each by itself.
        """
        from voile.signals.fhir import encode, read_fields

        content, way = _way(screen, kit, kind, classes, policy, table, encoding)
        named = read_fields(fields, content.reading.columns)
        others: Others = "keep" if keep_others else "refuse"
        counts = encode(source, out, way, named, others=others, force=force)
        _told(screen, out, "encoded", counts)
        if policy is not None and counts.readings > counts.subjects:
            screen.insist(
                "voile: warning: subjects have several readings, each sent by itself, and many "
                "tell of the class: leave --policy out"
            )

    given = path("fields", "Code and unit of each column, as TOML.", required=True)
    keep = flag("keep-others", "Leave values of other codes as they are, readable.")
    own = [
        argument("kit"),
        argument("source"),
        given,
        *_options(),
        keep,
        *out("READINGS", READINGS),
    ]
    return Command("encode-fhir", run, [*own, *reading()])


def decode_fhir(kind: str) -> click.Command:
    """Return the command that decodes."""

    def run(
        screen: Screen,
        *,
        kit: str,
        source: str,
        classes: str,
        policy: Path | None,
        out: Path,
        table: str | None,
        encoding: str | None,
        force: bool,
    ) -> int:
        """Decode what encode-fhir encoded: the same file, to the byte.

        Readings outside the map's range stay encoded there. What they decode to goes to
        OUT.set-aside.jsonl, and the exit code is 1.
        """
        from voile.signals.fhir import decode

        content, way = _way(screen, kit, kind, classes, policy, table, encoding)
        columns = [form.decoded for form in content.reading.forms]
        counts = decode(source, out, way, columns, force=force)
        if counts.set_aside:
            aside = f"{out}{SET_ASIDE}"
            screen.insist(f"{count(counts.set_aside, 'reading')} outside the range, in {aside}")
        _told(screen, out, "decoded", counts)
        return ASIDE if counts.set_aside else 0

    own = [
        argument("kit"),
        argument("source"),
        *_options(),
        *out("READINGS", READINGS),
        *reading(),
    ]
    return Command("decode-fhir", run, own)


def _options() -> list[click.Parameter]:
    said = "The class of each subject, called as the Observations do: Patient/17."
    known = place("classes", "CLASSES", said)
    return [known, path("policy", "Encode each reading by itself, under this policy.")]


def _way(
    screen: Screen,
    kit: str,
    kind: str,
    classes: str,
    policy: Path | None,
    table: str | None,
    encoding: str | None,
) -> tuple[Content, Way]:
    """Return what the kit holds, and how it hides readings of the known subjects."""
    from voile.release.choice import Chosen
    from voile.signals.fhir import Sequences, Singles
    from voile.signals.maps.stored import mark_of
    from voile.signals.verbs.content import Content, Policy

    opened = open_told(screen, classes, table, encoding)
    if policy is None:
        content, sequences = sequences_of(kit, kind)
        return content, Sequences(sequences, _class_of(classes_in(content, opened)))
    fitted, chosen = load_kit(Path(kit), kind), Chosen.read(policy)
    chosen.check(fitted)
    content = Content.of(fitted)
    map = content.map(Policy.from_data(chosen.policy, content.maps))
    scores = map.codec(base="normal", strength=1.0)
    class_of = _class_of(classes_in(content, opened))
    return content, Singles(map.codec_, scores, mark_of(map.codec_), class_of)


def _class_of(known: dict[str, str]) -> Callable[[str], str]:
    def class_of(subject: str) -> str:
        if subject not in known:
            raise RequestError(
                "a subject has no class", instead="say it in the table of classes, as Patient/17"
            )
        return known[subject]

    return class_of


def _told(screen: Screen, out: Path, done: str, counts: Counts) -> None:
    readings, subjects = count(counts.readings, "reading"), count(counts.subjects, "subject")
    screen.say(f"{out}: {readings} of {subjects} {done}")
    if counts.others:
        screen.insist(f"{count(counts.others, 'value')} of other codes left as they are")
    screen.result({"out": str(out), **asdict(counts)})
