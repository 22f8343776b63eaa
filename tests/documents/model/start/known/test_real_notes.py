"""Known values in real Spanish notes: nearly every mention is found, hardly a harmless word is."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
from tests.real_data import DATA

from voile.data import open_source
from voile.documents import Corpus, Document
from voile.documents.model.start.known.known_values import KnownValues

NOTES = DATA / "meddocan" / "dev.jsonl.gz"
PATIENT, STAFF = "NOMBRE_SUJETO_ASISTENCIA", "NOMBRE_PERSONAL_SANITARIO"
PER = 1_000

pytestmark = pytest.mark.real


def quoted(note: Document, label: str) -> list[str]:
    return [note.text[one.start : one.end] for one in note.spans if one.label == label]


def test_names_are_found_and_harmless_words_are_not():
    if not NOTES.exists():
        pytest.skip("the data set meddocan/dev.jsonl.gz is not there")
    notes = [replace(one, subject=str(n)) for n, one in enumerate(Corpus.read(NOTES))]
    patients = pa.table(
        {
            "paciente": [note.subject for note in notes],
            "nombre": ["; ".join(quoted(note, PATIENT)) for note in notes],
        }
    )
    staff = pa.table({"medico": sorted({one for note in notes for one in quoted(note, STAFF)})})
    known = KnownValues.read(open_source(patients), "paciente", people=open_source(staff))
    left = named = false = 0
    for note, removals in zip(notes, known.propose(notes), strict=True):
        sure = [one for one in removals if known.sure(one)]
        for span in note.spans:
            if span.label in (PATIENT, STAFF):
                named += 1
                gone = {at for one in sure for at in range(one.start, one.end)}
                left += any(
                    note.text[at].isalnum() for at in range(span.start, span.end) if at not in gone
                )
        false += sum(
            not any(span.start < one.end and one.start < span.end for span in note.spans)
            for one in sure
        )
    assert left < 0.02 * named
    assert false < 0.04 / PER * sum(len(note.text.split()) for note in notes)
