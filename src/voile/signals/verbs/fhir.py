"""`voile signals encode-fhir` and `decode-fhir`: replace the readings in a FHIR file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.data.fhir.reading_fields import read_fields
from voile.data.files.outputs import SET_ASIDE
from voile.keys.secret import Secret
from voile.release.choice import Chosen
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter, open_reported
from voile.signals.fhir.files import FileSummary, Others, decode, encode
from voile.signals.fhir.schemes import HidingScheme, SequenceScheme, SingleScheme
from voile.signals.model.content import KIND, SignalsContent
from voile.signals.model.maps.stored import mark_of
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.sources import SignalReader
from voile.signals.model.sequences.state import Cell
from voile.signals.options import DecodeFhirOptions, EncodeFhirOptions
from voile.signals.verbs.decode import ASIDE
from voile.signals.verbs.subjects import KnownSubject, sequences_of, subjects_in

APART = (
    "voile: warning: subjects have several readings, each sent by itself, and many gradually "
    "reveal the class: leave --policy out"
)


def encode_fhir(
    options: EncodeFhirOptions,
    reporter: VerbReporter,
    *,
    kit: str,
    source: str,
    out: Path,
    force: bool,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    """Encode the readings of a FHIR file, and change no other byte."""
    reader, scheme = _scheme(options, reporter, kit, table, encoding)
    fields = read_fields(options.fields, reader.columns)
    others: Others = "keep" if options.keep_others else "refuse"
    canonical = options.canonical_numbers
    counts = encode(source, out, scheme, fields, others=others, canonical=canonical, force=force)
    ended = _report_end(reporter, out, "encoded", counts)
    if options.policy is not None and counts.readings > counts.subjects:
        reporter.insist(APART)
    return ended


def decode_fhir(
    options: DecodeFhirOptions,
    reporter: VerbReporter,
    *,
    kit: str,
    source: str,
    out: Path,
    force: bool,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    reader, scheme = _scheme(options, reporter, kit, table, encoding)
    columns = [form.decoded_limits for form in reader.forms]
    counts = decode(source, out, scheme, columns, force=force)
    if counts.set_aside:
        aside = f"{out}{SET_ASIDE}"
        reporter.insist(f"{count(counts.set_aside, 'reading')} outside the range, in {aside}")
    return _report_end(reporter, out, "decoded", counts)


def _scheme(
    options: DecodeFhirOptions,
    reporter: VerbReporter,
    kit: str,
    table: str | None,
    encoding: str | None,
) -> tuple[SignalReader, HidingScheme]:
    """Return the kit's reader, and the scheme that encodes readings of the known subjects."""
    secret = Secret.find(options.key_file)
    opened = open_reported(reporter, options.classes, table=table, encoding=encoding)
    if options.policy is None:
        content, sequences = sequences_of(kit)
        known = _ClassTable(subjects_in(opened, content.reader, content.classes, sides=True))
        unit = content.sessions.unit if content.sessions else None
        seconds = unit.ticks if unit and unit.is_of_dates else None
        return content.reader, SequenceScheme(
            sequences, known.class_of, seconds, secret=secret, known_of=known.known_of
        )
    fitted, chosen = StoredKit.load(Path(kit), KIND), Chosen.read(options.policy)
    chosen.check(fitted)
    content = SignalsContent.of(fitted)
    map = content.map(SignalsPolicy.from_data(chosen.policy, content.maps))
    known = _ClassTable(subjects_in(opened, content.reader, content.classes, sides=True))
    scores = map.codec(base="normal", strength=1.0)
    mark = mark_of(map.codec_)
    return content.reader, SingleScheme(
        map.codec_, scores, mark, known.class_of, secret=secret, known_of=known.known_of
    )


class _ClassTable:
    """The table of classes by subject. It refuses an unknown subject."""

    def __init__(self, known: Mapping[str, KnownSubject]) -> None:
        self._known = known

    def class_of(self, subject: str) -> str:
        return self._of(subject).label

    def known_of(self, subject: str) -> tuple[Cell, ...]:
        return self._of(subject).known

    def _of(self, subject: str) -> KnownSubject:
        if subject not in self._known:
            raise RequestError(
                "a subject has no class", instead="add it to the table of classes, as Patient/17"
            )
        return self._known[subject]


def _report_end(reporter: VerbReporter, out: Path, done: str, counts: FileSummary) -> EndedVerb:
    readings, subjects = count(counts.readings, "reading"), count(counts.subjects, "subject")
    reporter.say(f"{out}: {readings} of {subjects} {done}")
    if counts.others:
        reporter.insist(f"{count(counts.others, 'value')} of other codes left as they are")
    return EndedVerb({"out": str(out), **asdict(counts)}, ASIDE if counts.set_aside else 0)
