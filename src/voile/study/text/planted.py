"""Mentions seeded in the study's own notes: the recall of each form, by kit or by reader.

Each sentence is added at the end of a note, and the note passes the release's sanitiser. The result
is the recall of a form in such notes, not the frequency of the form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from voile.core.evidence import Rate
from voile.documents.model.committee.worker import DocumentWorker
from voile.documents.replacements.published_document import PublishedDocument
from voile.documents.text.document import Document
from voile.study.readers import MentionReader

NOTES = 50
"""The number of notes in which each form is seeded."""


@dataclass(frozen=True)
class PlantedMentions:
    """The recall of one form of a type: fully detected mentions out of the seeded ones."""

    label: str
    form: str
    found: int
    of: int

    @property
    def rate(self) -> Rate:
        return Rate(self.found, self.of)

    def to_data(self) -> dict[str, Any]:
        return asdict(self)


def plant(
    worker: DocumentWorker, notes: Sequence[str], readers: Mapping[str, MentionReader]
) -> Iterator[PlantedMentions]:
    """Yield the recall of each form that the readers of some types seed."""
    for label, reader in readers.items():
        for form, sentence in reader.planted.items():
            before, mention, after = sentence.split("|")
            texts = [f"{note} {before}" for note in notes]
            done = worker.attempts([Document(f"{text}{mention}{after}") for text in texts])
            found = sum(
                _covers(one, len(text), len(text) + len(mention))
                for one, text in zip(done, texts, strict=True)
            )
            yield PlantedMentions(label, form, found, len(notes))


def _covers(done: object, start: int, end: int) -> bool:
    edits = done.edits if isinstance(done, PublishedDocument) else ()
    return any(one.source_start <= start and end <= one.source_end for one in edits)
