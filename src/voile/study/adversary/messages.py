"""What messages of readings show: the readings that they stand for under each class's map."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from voile.data import Source
from voile.release.choice import Chosen
from voile.release.kit import Kit
from voile.release.manifest import Release, source_rows
from voile.signals.model.content import Content
from voile.signals.model.policies import Policy
from voile.signals.model.readings.sources import subjects_of
from voile.signals.verbs.certify import messages
from voile.study.adversary.informed import Facts
from voile.study.adversary.people import Fact


def readings_of(part: Release, source: Source, kit: Kit, chosen: Chosen) -> Facts:
    """Decode every message by every class's map, as an adversary can who has the kit.

    The adversary knows readings of a person, each by its column, and not the class. Known columns
    are taken as known of everybody. Memory: the readings of the part.
    """
    content = Content.of(kit)
    codec, reader = (
        content.map(Policy.from_data(chosen.policy, content.maps)).codec_,
        content.reader,
    )
    numbers = source_rows(part.folder)
    columns = dict.fromkeys((reader.subject, reader.private, *reader.columns,
                             *(one.column for one in reader.sides)))  # fmt: skip
    true = source.read(list(columns)).take(numbers).combine_chunks()
    sent = part.rows().read(list(reader.columns)).combine_chunks()
    shown: dict[str, set[Fact]] = defaultdict(set)
    known: dict[str, set[Fact]] = defaultdict(set)
    for batch, own in zip(sent.to_batches(), true.to_batches(), strict=True):
        Z, blank = messages(batch, reader.forms)
        rows, seen = np.flatnonzero(~blank), reader.see(own)
        people = subjects_of(own.column(reader.subject))[rows]
        labels, sides = seen.labels[rows].astype(str), seen.known(rows)
        for label in codec.classes if len(rows) else ():
            X = codec.decode(Z[rows], label, known=sides if reader.sides else None)
            for person, mine, reading in zip(people, labels == label, X.tolist(), strict=True):
                facts = list(zip(reader.columns, reading, strict=True))
                shown[str(person)].update(facts)
                known[str(person)].update(facts if mine else ())
    return Facts(_frozen(shown), _frozen(known))


def decoded_columns(kit: Kit) -> tuple[str, ...]:
    """Return what messages say once they are decoded: readings, and class and known columns, by
    which they are encoded.
    """
    reader = Content.of(kit).reader
    return (*reader.columns, reader.private, *(one.column for one in reader.sides))


def _frozen(facts: dict[str, set[Any]]) -> dict[str, frozenset[Fact]]:
    return {person: frozenset(own) for person, own in facts.items()}
