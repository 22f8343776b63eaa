"""Read the kit's map of sequences and the table of classes, for live verbs and decoders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from voile.core.errors import RequestError
from voile.data import Source
from voile.release.kit import StoredKit
from voile.signals.channel.keys import LAST
from voile.signals.model.content import KIND, SignalsContent
from voile.signals.model.readings.sources import SignalReader, subjects_of
from voile.signals.model.sequences.sequence_codec import SequenceCodec
from voile.signals.model.sequences.state import Cell
from voile.signals.verbs.release_columns import CLASSES, KEY, PSEUDONYM

OWN = ("subject", "session", "number")  # first fields of each line in the clinic's file


def sequences_of(kit: StoredKit | str) -> tuple[SignalsContent, SequenceCodec]:
    """Return the content of a kit and its map of sequences.

    Raises
    ------
    RequestError : the kit has no map of sequences.
    """
    opened = kit if isinstance(kit, StoredKit) else StoredKit.load(kit, KIND)
    content = SignalsContent.of(opened)
    if content.sessions and content.sessions.reveals and content.sequence is None:
        raise RequestError(
            "the kit has no map of sequences: whole sessions were shown to reveal the class",
            where=str(kit),
            instead="fit on more subjects, or keep it with fit --leaky-sessions",
        )
    if content.sequence is None:
        raise RequestError(
            "the kit has no map of sequences", where=str(kit), instead="fit with --time COLUMN"
        )
    arrays = content.sequence
    return content, opened.read_content(lambda _: SequenceCodec.from_arrays(arrays))


def live_of(kit: StoredKit | str) -> tuple[SignalsContent, SequenceCodec]:
    """Return the content of a kit and its map of sequences, for live use.

    Raises
    ------
    RequestError : there is no such map, or a column has the name of a field in the clinic's file.
    """
    content, codec = sequences_of(kit)
    shown = {*content.reader.columns, *content.reader.roles.of("keep")}
    if taken := [name for name in OWN if name in shown]:
        raise RequestError(
            f"a column is called {taken[0]}, but the clinic's file needs this name",
            where=str(kit),
            instead="rename it in the source and fit again",
        )
    return content, codec


class KnownSubject(NamedTuple):
    """The class of a subject, and the generation of its device's key."""

    label: str
    generation: int = 1
    known: tuple[Cell, ...] = ()  # its side columns, if requested


def subjects_in(
    table: Source,
    reader: SignalReader,
    classes: Sequence[str],
    *,
    subject: str = "",
    generation: str | None = None,
    sides: bool = False,
) -> dict[str, KnownSubject]:
    """Read each subject's class and key generation from a table.

    The table has the columns of the kit's source. With `sides`, also read the known columns, if the
    kit's map uses any. `subject` is the subject column, by default that of the source.
    """
    columns = reader.sides if sides else ()
    own = [subject or reader.subject, reader.private, *([generation] if generation else [])]
    names = list(dict.fromkeys([*own, *(one.column for one in columns)]))
    found: dict[str, KnownSubject] = {}
    row = 0
    for batch in table.batches(names):
        labels = reader.classes(batch.column(own[1]))
        numbers = batch.column(generation).to_pylist() if generation else [1] * len(batch)
        cells = [one.cells(batch.column(one.column)) for one in columns]
        known = list(zip(*(one.values.tolist() for one in cells), strict=True)) or [()] * len(batch)
        strange = np.any([one.strange for one in cells], axis=0) if cells else [False] * len(batch)
        for who, label, number, beside, odd in zip(
            subjects_of(batch.column(own[0])), labels, numbers, known, strange, strict=True
        ):
            row += 1
            each = KnownSubject(label, _generation(number), beside)
            wrong = "a known column contains text, but the map needs numbers" if odd else ""
            if wrong := wrong or _wrong(who, each, found, classes):
                raise RequestError(wrong, where=f"{table.name}, row {row:,}")
            found[who] = each
    return found


def _generation(number: object) -> int:
    """Return the generation of a key, or 0 if it is invalid."""
    text = str(number)
    return int(text) if re.fullmatch("[0-9]{1,5}", text) and int(text) <= LAST else 0


def _wrong(
    who: str | None, each: KnownSubject, found: dict[str, KnownSubject], classes: Sequence[str]
) -> str:
    if who is None or each.label is None:
        return "a row has no subject or no class"
    if each.label not in classes:
        return "the map has not seen a class"
    if not each.generation:
        return f"the generation of a key is not a whole number from 1 to {LAST}"
    if found.get(who, each).label != each.label:
        return "a subject is of two classes"
    if found.get(who, each).known != each.known:
        return "a subject has two values of a known column"
    return "a subject has two keys" if found.get(who, each) != each else ""


class KnownOf(NamedTuple):
    """A recipient's data on a subject in addition to the class: MAC key and known columns."""

    key: bytes
    cells: dict[str, object]


def known_in(table: Source, reader: SignalReader) -> dict[str, KnownOf]:
    """Read each pseudonym's key, and its known columns that are not sent with messages."""
    hidden = [one for one in reader.sides if not one.settings.sent]
    names = [PSEUDONYM, KEY, *(one.column for one in hidden)]
    for name in names:
        if name not in table.columns:
            raise RequestError(
                f"there is no column {name}, without which nothing can be decoded",
                where=table.name,
                instead=f"give the known columns, and {KEY} as apply wrote it in {CLASSES}",
            )
    found: dict[str, KnownOf] = {}
    for batch in table.batches(names):
        columns = {one.column: one.cells(batch.column(one.column)).values for one in hidden}
        keys = batch.column(KEY).cast(pa.string()).to_pylist()
        for i, who in enumerate(subjects_of(batch.column(PSEUDONYM))):
            cells = {name: values[i] for name, values in columns.items()}
            found[who] = KnownOf(_key(keys[i], table.name), cells)
    return found


def _key(text: str | None, where: str) -> bytes:
    try:
        return bytes.fromhex(text or "-")
    except ValueError:
        remedy = f"give it as apply wrote it in {CLASSES}"
        raise RequestError("a key is not hexadecimal", where=where, instead=remedy) from None
