"""Clinical cases that nobody marked: proposed, read by one who knows, and better for it."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.documents.reviewing.test_command import Client, started

import voile
from voile.documents import Corpus, Document, Span
from voile.documents.model.content import DocumentsContent
from voile.documents.reviewing.store import ReviewStore
from voile.documents.words.token_classes import token_labels
from voile.release.kit import StoredKit

pytestmark = pytest.mark.real
TYPES = {
    "NOMBRE_SUJETO_ASISTENCIA": "NAME", "NOMBRE_PERSONAL_SANITARIO": "NAME", "FECHAS": "DATE",
    "TERRITORIO": "ADDRESS", "PAIS": "ADDRESS", "CALLE": "ADDRESS", "HOSPITAL": "HOSPITAL",
    "CENTRO_SALUD": "HOSPITAL", "INSTITUCION": "HOSPITAL", "NUMERO_TELEFONO": "PHONE",
    "NUMERO_FAX": "PHONE", "CORREO_ELECTRONICO": "EMAIL", "EDAD_SUJETO_ASISTENCIA": "AGE",
    "ID_SUJETO_ASISTENCIA": "ID", "ID_ASEGURAMIENTO": "ID", "ID_CONTACTO_ASISTENCIAL": "ID",
    "ID_TITULACION_PERSONAL_SANITARIO": "ID", "ID_EMPLEO_PERSONAL_SANITARIO": "ID",
}  # fmt: skip
"""What our reviewer calls what the annotators marked."""
MISS_COST = 10.0


def cases(file: Path, first: int, last: int) -> Iterator[Document]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, itertools.islice(lines, first, last)):
            spans = [
                Span(one["start"], one["end"], TYPES[one["label"]])
                for one in row["spans"]
                if one["label"] in TYPES
            ]
            yield Document(row["text"], tuple(spans), id=row["doc_id"], subject=row["doc_id"])


def cost(work: Path, corpus: Corpus) -> int:
    """Return T of identifiers of all types in text of which nothing was learnt."""
    remover = DocumentsContent.of(StoredKit.load(work, "documents")).committees[MISS_COST].remover()
    removed = remover([replace(one, spans=()) for one in corpus])
    identifies = token_labels(removed.tokens, corpus, corpus.labels) > 0
    missed, lost = identifies & (removed.type == 0), ~identifies & (removed.type > 0)
    return int(MISS_COST * missed.sum() + lost.sum())


class Reviewer(Client):
    """Somebody who knows what identifies, at the page."""

    def __init__(self, address: str, store: ReviewStore, known: Corpus) -> None:
        super().__init__(address)
        self.store, self.known = store, known

    def read(self) -> None:
        """Correct the line that the page shows, word by word, and confirm it."""
        screen = self.screen()["line"]
        line = self.store.line(screen["number"])
        gold = {
            (
                max(one.start, line.start) - line.start,
                min(one.end, line.end) - line.start,
                one.label,
            )
            for one in self.known[line.document].spans
            if one.start < line.end and line.start < one.end
        }
        places = offsets(screen)
        for one in screen["marks"]:
            if (places[one["from"]][0], places[one["to"] - 1][1], one["label"]) not in gold:
                self.stroke("clear", (one["from"], one["to"]))
        for start, end, label in gold:
            screen = self.screen()["line"]
            inside = [n for n, (a, b) in enumerate(offsets(screen)) if a < end and start < b]
            self.stroke("mark", (inside[0], inside[-1] + 1), label)
        self.stroke("confirm")


def offsets(line: dict[str, Any]) -> list[tuple[int, int]]:
    places, at = [], 0
    for gap, word in zip(line["gaps"], line["words"], strict=True):
        places.append((at + len(gap), at + len(gap) + len(word)))
        at = places[-1][1]
    return places


def test_what_a_reviewer_reads_of_unmarked_cases_makes_the_kit_better(
    data_set: Any, tmp_path: Path
) -> None:
    file = data_set("meddocan") / "train.jsonl.gz"
    known, others = Corpus(cases(file, 0, 60)), Corpus(cases(file, 100, 220))
    rows = [{"patient": one.subject, "text": one.text} for one in known]
    notes = tmp_path / "notes.jsonl"
    notes.write_text("".join(json.dumps(row) + "\n" for row in rows))
    work = tmp_path / "work"
    quick = {"learners": ["svm"], "cross_fit": 3, "jobs": 1, "seed": 1, "miss_cost": MISS_COST}
    voile.documents.init(notes, work, language="spanish", subject="patient", **quick)
    before = cost(work, others)

    with (
        started("review", work, "--goal", "2000", "--reviewer", "Eva") as (process, address),
        ReviewStore.open(work / "review.sqlite") as store,
    ):
        reviewer = Reviewer(address, store, known)
        while reviewer.waits:
            reviewer.read()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
        check_answers(store, known)
    assert process.returncode == 0, said
    assert StoredKit.load(work, "documents").facts["marks"] == "reviewed"
    check_private(known, said, work)
    assert cost(work, others) < 0.95 * before


def check_answers(store: ReviewStore, known: Corpus) -> None:
    """What was saved is what the reviewer knows, of lines that are the notes' own."""
    answers = store.answers()
    assert len(answers) == len(store.lines()) > 20
    for answer in answers:
        line = store.line(answer.line)
        text = known[line.document].text
        assert text[line.start : line.end] == line.text
        found = {(line.start + one.start, line.start + one.end) for one in answer.spans}
        spans = known[line.document].spans
        inside = {
            (max(one.start, line.start), min(one.end, line.end))
            for one in spans
            if one.start < line.end and line.start < one.end
        }
        assert found == inside


def check_private(known: Corpus, said: str, work: Path) -> None:
    names = {
        one.text[span.start : span.end]
        for one in known
        for span in one.spans
        if span.label in ("NAME", "PHONE", "EMAIL")
    }
    assert not [name for name in names if name in said]
    assert os.stat(work).st_mode & 0o077 == 0
    assert os.stat(work / "review.sqlite").st_mode & 0o077 == 0
