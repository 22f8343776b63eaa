"""The step of `apply` that processes one batch of documents.

It returns removals, replacements, rejected rows and figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from voile.core.errors import RequestError, VoileError
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.data.formats.folders import TEXT
from voile.data.writer import BatchWriter
from voile.documents.model.committee.worker import (
    DocumentFailure,
    DocumentWorker,
    JoinedProposals,
    Proposing,
)
from voile.documents.model.content import DocumentsContent
from voile.documents.model.own_models import publish_models
from voile.documents.model.policies import ANNOTATED, MODELS
from voile.documents.model.quantities import STATING
from voile.documents.options import ApplyOptions
from voile.documents.patterns.pattern import PatternFinder
from voile.documents.replacements.names import BUILT_IN
from voile.documents.replacements.published import PublishedDocument, RemovalReplacer
from voile.documents.replacements.removal import RemovalReason
from voile.documents.text.document import Document
from voile.documents.text.files_source import FilesSource
from voile.documents.text.reader import (
    LOST_CHARACTERS,
    count_controls,
    has_lost_characters,
    text_hash,
    why_unusable,
)
from voile.documents.verbs.files import PATH, DocumentCells, DocumentFiles
from voile.documents.verbs.recipe import (
    language_of,
    pattern_names,
)
from voile.documents.verbs.removals import REMOVALS, removals_of
from voile.documents.verbs.report_data import report_data
from voile.gate.dates_left import measure_dates_left
from voile.gate.documents import MARK, UNITS, find_no_documents, measure_documents
from voile.gate.finding import GateFinding, figures_of
from voile.gate.kept_words import measure_kept_words
from voile.keys.pseudonyms import pseudonyms_of, without_subject
from voile.release.manifest import ROW
from voile.release.outcomes import AsideRows, BatchOutcome, SourceBatch, WrittenRelease
from voile.release.step import ApplyingStep
from voile.report.wording import needs_suppression, size

FIGURES = ("risk", "risk_low", "risk_high", "loss", "published_tokens")
OF_TEXT = ("published_tokens",)
"""The figures that need no annotated text."""
UNTAGGED, FAILED = "no parts of speech, which the kit learnt from", "could not be worked on"
LEARNT, UNREAD = "learnt from", "why it could not be read"
ROWS_AT_A_TIME = 128
"""The number of rows per batch. It is small, so that several processes can share a small source."""
CONTROL_CHARACTERS = RemovalReason("rule", "control characters")
PSEUDONYM = "pseudonym, keyed by a secret"
WHAT = {
    "mark": "text with marks in the place of identifiers",
    "category": "text with marks of categories in the place of identifiers",
    "surrogate": "text with made-up values in the place of identifiers",
}


@dataclass(frozen=True)
class WorkedDocuments:
    """Counts of the released documents.

    counts : the counts of `UNITS`, and of the documents that the kit learnt from.
    by : the number of removals by reason.
    labels : the number of removals by type.
    failures : the number of nonblank texts by reason of failure. None counts texts without a
        failure.
    """

    counts: Counter[str] = field(default_factory=Counter)
    by: Counter[RemovalReason] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    failures: Counter[DocumentFailure | None] = field(default_factory=Counter)

    def check(self) -> None:
        """Raise an error if all texts failed for one reason, so no single text is the cause."""
        why = next(iter(self.failures), None)
        if why is not None and len(self.failures) == 1 and not why.is_expected:
            raise VoileError(
                f"every text fails alike: {why.why}",
                instead="nothing was written; if this is a defect of voile, report it with this "
                "sentence, which holds nothing of the texts",
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentsApplying(ApplyingStep[WorkedDocuments, WorkedDocuments]):
    """Publish the text columns with identifiers removed, and the kept columns unchanged."""

    stating = STATING
    searches_values = True
    note_types = (WorkedDocuments, RemovalReason, DocumentFailure)
    batch_rows = ROWS_AT_A_TIME
    shuffle_bytes = 64_000_000

    content: DocumentsContent
    options: ApplyOptions
    worker: DocumentWorker
    files: DocumentFiles | None
    refuse: Callable[[Document], str | None] = lambda _: None
    """A function that returns the reason why a document must not be released, or None."""

    def writing(
        self,
        put: Callable[[RemovalReplacer], RemovalReplacer],
        finders: Sequence[PatternFinder] = (),
        known: Proposing | None = None,
    ) -> DocumentsApplying:
        """Return the same step with a replacer that wraps the present one.

        put : a function that returns the new replacer, given the present one.
        finders, known : additional finders of text to remove. The types of `known` precede the
            kit's types.
        """
        recipe = self.worker.recipe
        both = tuple(one for one in (known, recipe.known) if one is not None)
        more = replace(
            recipe,
            put=put(recipe.put),
            finders=(*recipe.finders, *finders),
            known=JoinedProposals(both) if both else None,
        )
        return replace(self, worker=DocumentWorker(more))

    @property
    def texts(self) -> list[str]:
        return self.content.reading.texts

    def batches(self, piece: Source | None = None, first: int = 0) -> Iterator[SourceBatch]:
        """Yield batches with a column of read failures, which other processes do not know."""
        for batch in super().batches(piece, first):
            rows = batch.rows
            if isinstance(self.source, FilesSource):
                names = rows.column("id").to_pylist()
                why = pa.array(map(self.source.unread.get, names), pa.string())
                rows = rows.append_column(UNREAD, why)
                if self.files is not None:
                    rows = rows.append_column(PATH, self._paths(names))
            yield replace(batch, rows=rows)

    def why_alone(self) -> str | None:
        is_corpus = isinstance(self.source, FilesSource)
        return "its documents are files of their own" if is_corpus or self.files else None

    def make(self, batch: SourceBatch) -> BatchOutcome[WorkedDocuments]:
        """Remove identifiers from each document, and reject documents that cannot be processed."""
        first, width = int(batch.numbers[0]), len(self.texts)
        documents = self.content.reading.documents(batch.rows, first, annotated=False)
        faults = [
            self._unread_at(batch, x // width)
            or why_unusable(one.text)
            or self._explain_untagged(one)
            or self.refuse(one)
            for x, one in enumerate(documents)
        ]
        usable = np.array([why is None for why in faults], dtype=np.bool_)
        whole = batch.counted & usable.reshape(len(batch.numbers), width).all(axis=1)
        places = np.flatnonzero(np.repeat(whole, width)).tolist()
        tried = self.worker.attempts([documents[x] for x in places])
        found = dict(zip(places, tried, strict=True))
        done = {place: one for place, one in found.items() if not isinstance(one, DocumentFailure)}
        cells = self._cells(batch, documents, done)
        for place in places:
            why = FAILED if place not in done else cells.get(place)
            if isinstance(why, str):
                faults[place] = why
        aside = [*self._lost_cells(batch), *self._unusable(faults)]
        left = batch.find_remaining(aside)
        released = {
            place: one
            for place, one in done.items()
            if left[place // width] and self._is_there(batch, place)
        }
        notes = self._notes(documents, released)
        if controls := sum(count_controls(batch.rows.column(name)) for name in self.texts):
            notes.by[CONTROL_CHARACTERS] += controls
        notes.failures.update(
            one if isinstance(one, DocumentFailure) else None
            for place, one in found.items()
            if documents[place].text.strip()
        )
        beside = {REMOVALS: removals_of(batch, released, self.texts)}
        if self.files is None:
            columns = [self._column(batch, name, released) for name in self.schema.names]
        else:
            rows = [cells.get(x) if x in released else None for x in range(len(documents))]
            columns = self.files.arrays(rows)
            beside |= self.files.list_names(batch.numbers.tolist(), rows)
        return BatchOutcome(columns, notes, aside, beside=beside)

    def nothing(self) -> WorkedDocuments:
        return WorkedDocuments()

    def merge(self, notes: WorkedDocuments, more: WorkedDocuments) -> None:
        notes.counts.update(more.counts)
        notes.by.update(more.by)
        notes.labels.update(more.labels)
        notes.failures.update(more.failures)

    def summarise(self, notes: WorkedDocuments) -> WorkedDocuments:
        notes.check()
        return notes

    def _paths(self, names: Sequence[str]) -> pa.Array:
        assert isinstance(self.source, FilesSource)
        found = map(self.source.paths.get, names)
        return pa.array([None if path is None else str(path) for path in found], pa.string())

    def _cells(
        self,
        batch: SourceBatch,
        documents: Sequence[Document],
        done: Mapping[int, PublishedDocument],
    ) -> Mapping[int, DocumentCells | str]:
        """Return the contents of each document's files, or the reason why it has none.

        Each document has a single text.
        """
        files = self.files
        if files is None:
            return {}
        return {x: files.make(batch.rows, x, documents[x], one) for x, one in done.items()}

    def writer(self, out: str | AnyPath, *, force: bool, escape: bool) -> BatchWriter:
        if self.files is None:
            return super().writer(out, force=force, escape=escape)
        return self.files.open(out, escape=escape)

    def _unread_at(self, batch: SourceBatch, row: int) -> str | None:
        # other sources may have a column of this name
        is_corpus = isinstance(self.source, FilesSource)
        return batch.rows.column(UNREAD)[row].as_py() if is_corpus else None

    def _explain_untagged(self, document: Document) -> str | None:
        tagged = bool(self.worker.recipe.committee.space.tags)
        return UNTAGGED if tagged and not document.pos and document.text.strip() else None

    def _lost_cells(self, batch: SourceBatch) -> Iterator[AsideRows]:
        for name in batch.rows.schema.names:
            if name not in self.texts:
                yield AsideRows(name, LOST_CHARACTERS, has_lost_characters(batch.rows.column(name)))

    def _unusable(self, faults: Sequence[str | None]) -> Iterator[AsideRows]:
        """Yield the rows with a text that cannot be processed, and the reason."""
        for column, name in enumerate(self.texts):
            here = faults[column :: len(self.texts)]
            for why in dict.fromkeys(filter(None, here)):
                yield AsideRows(name, why, np.array([one == why for one in here], dtype=np.bool_))

    def _is_there(self, batch: SourceBatch, place: int) -> bool:
        row, column = divmod(place, len(self.texts))
        return bool(batch.rows.column(self.texts[column])[row].is_valid)

    def _column(
        self, batch: SourceBatch, name: str, released: Mapping[int, PublishedDocument]
    ) -> pa.Array:
        """Return a column of the release, with null for each text that is not released."""
        if name == self.roles.subject:
            return self._pseudonyms(batch.rows.column(name))
        if name not in self.texts:
            return batch.rows.column(name)
        width, place = len(self.texts), self.texts.index(name)
        made: list[str | None] = [None] * len(batch.numbers)
        for number, one in released.items():
            row, column = divmod(number, width)
            if column == place:
                made[row] = one.text
        return pa.array(made, pa.string())

    def _pseudonyms(self, people: pa.Array) -> pa.Array:
        assert self.secret is not None
        nobody = without_subject(people)
        named = pseudonyms_of(self.secret, pc.if_else(nobody, "nobody", people.cast(pa.string())))
        return pc.if_else(nobody, None, named)

    def _notes(
        self, documents: Sequence[Document], released: Mapping[int, PublishedDocument]
    ) -> WorkedDocuments:
        """Count the released documents, and their removals by reason."""
        notes = self.nothing()
        for place, one in released.items():
            found = (1, len(one.text), len(re.findall(MARK, one.text)))
            notes.counts.update(dict(zip(UNITS, found, strict=True)))
            notes.counts[LEARNT] += self._is_seen(documents[place].text)
            notes.by.update(reason for edit in one.edits for reason in edit.by)
            notes.labels.update(edit.label for edit in one.edits)
        return notes

    def _is_seen(self, text: str) -> bool:
        key = bytes.fromhex(self.content.found["key"])
        seen, number = self.content.seen, text_hash(text, key)
        return bool(np.searchsorted(seen, number) < np.searchsorted(seen, number, "right"))

    def measure(self, written: WrittenRelease[WorkedDocuments]) -> tuple[GateFinding, ...]:
        """Measure the written documents, and compare their counts with the expected counts."""
        if not written.tally.released:  # some formats cannot be read without rows
            return find_no_documents()
        texts = self.texts if self.files is None else [TEXT]
        findings = measure_documents(written.rows, texts, written.people)
        numbers = written.truth.read([ROW]).column(0).to_numpy()
        compared = (written.rows, texts, self.source, self.texts, numbers)
        findings = (*findings, measure_kept_words(*compared))
        if self.options.replace == "surrogate":
            findings = (*findings, *measure_dates_left(*compared, written.people))
        figures = figures_of(findings)
        _refuse_true_dates(figures)
        for name in UNITS:
            if figures[name] != written.known.counts[name]:
                raise AssertionError(f"the release has not the {name} that were written")
        return findings

    def public_manifest(
        self, figures: Mapping[str, float], known: WorkedDocuments
    ) -> dict[str, Any]:
        """Return the module's part of the public manifest, with only types that were removed."""
        found, chosen = self.content.found, self.chosen.figures
        options = self.options
        text = {"role": "text", "what": WHAT[options.replace]}
        made = dict.fromkeys(self.texts, text)
        if options.pseudonyms:
            made[str(self.roles.subject)] = {"role": "identifier", "what": PSEUDONYM}
        few = "risk" in chosen and needs_suppression(chosen["risk"], found["identifiers"], "public")
        shown = ("loss",) if few else FIGURES  # two of these figures reveal the third
        if self.content.unchecked_reference:
            shown = OF_TEXT
        labels = [label for label in found["labels"] if label in known.labels]
        models = publish_models(self.worker.recipe.committee)
        return {
            "policy": {**self.chosen.policy, "labels": labels, "replace": options.replace},
            "columns": self.describe_columns(made)
            if self.files is None
            else self.files.describe_columns(WHAT[options.replace]),
            "figures": {n: x for n in shown if (x := {**chosen, **figures}.get(n)) is not None},
            "marks": found.get("marks", ANNOTATED),
            "constraints": {
                "known": self.worker.recipe.known is not None,
                "patterns": pattern_names(options),
                "repeats": bool(self.worker.recipe.names),
                "repeats_in_figures": self.content.with_repeats,
                "context": options.context,
                "deny_list": options.deny is not None,
                "allow_list": options.allow is not None,
            },
            **({MODELS: models} if models else {}),
        }

    def private_manifest(self, known: WorkedDocuments) -> dict[str, Any]:
        names = BUILT_IN if self.options.names is None else "own"
        return {
            "labels": list(self.content.found["labels"]),
            "removed_by": {str(why): times for why, times in sorted(known.by.items())},
            "learnt_from": known.counts[LEARNT],
            "surrogates": {
                "names": names,
                "kinds": self.options.kinds(),
                "language": language_of(self.content, self.options),
            },
            "subject_pattern": self.options.subject_pattern,
            "story": report_data(self.content, self.chosen.number),
        }


def _refuse_true_dates(figures: Mapping[str, float]) -> None:
    """Raise an error if the release moves one date of a person and keeps another true date."""
    if dates := figures.get("true_dates"):
        people = size(figures["people_with_true_dates"], "public")
        raise RequestError(
            f"{dates:,.0f} dates stay true next to moved dates of the same person, for {people} "
            "people, and reveal how far these dates moved",
            where="--replace surrogate",
            instead="list these dates in --deny FILE, take dates out of --allow, or use --replace "
            "mark",
        )
