"""Notes and tables that `init` refuses, and the remedies that it names."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp

import pytest
from tests.documents.fitting.test_init import QUICK
from tests.documents.model.start.made import write_table

import voile
from voile.core.errors import RequestError

pytestmark = pytest.mark.filterwarnings(
    "ignore::voile.documents.model.start.known.known_values.KnownValuesWarning"
)


def init_notes(rows, **options):
    folder = Path(mkdtemp())
    place = write_table(folder / "notes.csv", rows)
    return voile.documents.init(place, folder / "work", **{**QUICK, **options})


def test_known_columns_that_meet_no_note():
    rows = [{"patient_id": f"q{n}", "note": f"Dr. Osei came on day {n} ."} for n in range(9)]
    with pytest.raises(RequestError, match="the known columns meet no note") as refused:
        init_notes(rows, known={"patient_id": ["a"], "name": ["Zebulon Qwist"]}, by="patient_id")
    assert "name 0" in str(refused.value)
    assert "Qwist" not in str(refused.value)


def test_by_column_absent_in_the_notes():
    with pytest.raises(RequestError, match=r"no column pid, which says whose a note is.*subject; "):
        init_notes([{"note": "Ana came ."}], known={"pid": ["a"], "name": ["Ana"]}, by="pid")


def test_by_column_absent_in_the_table():
    with pytest.raises(RequestError, match="there is no column pid"):
        init_notes(
            [{"pid": "a", "note": "Ana came ."}],
            known={"who": ["a"], "name": ["Ana"]},
            by="pid",
        )


def test_by_without_a_table():
    with pytest.raises(RequestError, match="give known FILE"):
        init_notes([{"pid": "a", "note": "Ana came ."}], by="pid")


@pytest.mark.parametrize("text", ["", "   "])
def test_empty_notes(text):
    with pytest.raises(RequestError, match="the notes are empty"):
        init_notes([{"pid": "a", "note": text}, {"pid": "b", "note": text}])


def test_notes_that_are_annotated():
    spans = '[{"start": 0, "end": 3, "label": "NAME"}]'
    with pytest.raises(RequestError, match="use voile documents fit"):
        init_notes([{"text": "Ana came .", "spans": spans}])


def test_no_column_of_text():
    with pytest.raises(RequestError, match="name it with text"):
        init_notes([{"a": "Ana came .", "b": "Ben came ."}])


def test_notes_in_memory(tmp_path):
    with pytest.raises(RequestError, match="the notes are in memory"):
        voile.documents.init({"note": ["Dr. Osei came ."]}, tmp_path / "work")


def test_roles_and_text():
    with pytest.raises(RequestError, match="both say what columns are"):
        init_notes([{"note": "Ana ."}], text="note", roles={"note": "text"})


def test_notes_of_another_language():
    rows = [{"note": "El paciente fue visto en la consulta de la Dra. Ruiz ."}] * 9
    with pytest.raises(RequestError, match=r"seems to be Spanish.*; leave language out"):
        init_notes(rows, language="english")


def test_a_kind_without_a_column():
    with pytest.raises(RequestError, match="write COLUMN=name"):
        init_notes([{"note": "Ana ."}], known_kind="name")
