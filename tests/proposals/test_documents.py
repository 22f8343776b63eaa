"""What inspect proposes for documents."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from voile.data.roles import Roles
from voile.documents import Corpus
from voile.documents.text.source import open_source
from voile.proposals.documents import examine_documents, holds_spans

N = 60
NOTE = "Ann May came in today, and she will come again."
MARKED = [{"start": 0, "end": 7, "label": "NAME"}]
LISTED = pa.list_(pa.struct([("start", pa.int64()), ("end", pa.int64()), ("label", pa.string())]))
TABLE = {
    "patient_id": [n // 2 for n in range(N)],
    "visit": ["2024-01-01"] * N,
    "ward": ["north", "south"] * (N // 2),
    "email": [f"a{n}@example.org" for n in range(N)],
    "note": [f"{NOTE} {n}" for n in range(N)],
    "note_spans": [json.dumps(MARKED)] * N,
    "letter": ["Dear Ann"] * N,
    "age": [n % 40 for n in range(N)],
    "remark": ["A sentence of several words, nobody's name."] * N,
    "none": pa.nulls(N, pa.string()),
}
PROPOSED = {
    "patient_id": "identifier",
    "visit": "drop",
    "ward": "drop",
    "email": "identifier",
    "note": "text",
    "note_spans": "label",
    "letter": "text",
    "age": "drop",
    "remark": "text",
    "none": "drop",
}


def settings_of(found):
    """The settings of the columns that have some."""
    return {column.name: column.settings for column in found.columns if column.settings}


def test_texts_and_their_spans_are_found_and_nothing_is_kept(tmp_path):
    source = open_source(pa.table(TABLE))
    found = examine_documents(source)
    assert found.subject == "patient_id"
    assert {column.name: column.role for column in found.columns} == PROPOSED
    assert settings_of(found) == {"note": {"spans": "note_spans"}}
    (tmp_path / "roles.toml").write_text(found.to_toml())
    corpus = Corpus.from_source(source, Roles.read(tmp_path / "roles.toml"))
    assert len(corpus) == 3 * N
    assert (corpus.labels, len(set(corpus.subjects))) == (("NAME",), N // 2)


@pytest.mark.parametrize(
    "cells",
    [
        [json.dumps(MARKED), "[]", None],
        ['[[0, 7, "NAME"]]'] * 3,
        pa.array([MARKED, [], None], LISTED),
    ],
)
def test_spans_are_json_or_lists_of_structs(cells):
    source = open_source(pa.table({"words": [NOTE] * 3, "marks": cells}))
    assert holds_spans(source)
    assert settings_of(examine_documents(source)) == {"words": {"spans": "marks"}}


@pytest.mark.parametrize(
    "cells",
    [
        ["[]", "[]", None],
        ['[["0", 7, "NAME"]]', "[]", "[]"],
        [json.dumps(MARKED), "[[]]", None],
        ["[1, 2]", "[3]", "[]"],
        [NOTE, NOTE, "[]"],
        ["[" * 100_000] * 3,
        pa.array([[1], [2], []], pa.list_(pa.int64())),
        pa.nulls(3, pa.string()),
    ],
)
def test_other_columns_hold_no_spans(cells):
    source = open_source(pa.table({"words": [NOTE] * 3, "marks": cells}))
    assert not holds_spans(source)
    assert settings_of(examine_documents(source)) == {}


def test_spans_of_which_there_are_none_are_dropped():
    marks = pa.array([[], None] * 30, pa.list_(pa.string()))
    found = examine_documents(open_source(pa.table({"note": TABLE["note"], "marks": marks})))
    assert (found.columns[1].role, found.columns[1].why) == ("drop", "empty")


def test_spans_go_to_the_text_that_they_fit_in():
    long = [{"start": 40, "end": 44, "label": "NAME"}]
    table = {
        "short_note": ["Ann came."] * 3,
        "marks": [json.dumps(long)] * 3,
        "long_note": [NOTE] * 3,
        "short_marks": [json.dumps([[0, 3, "NAME"]])] * 3,
    }
    found = settings_of(examine_documents(open_source(pa.table(table))))
    assert found == {"long_note": {"spans": "marks"}, "short_note": {"spans": "short_marks"}}


def test_names_decide_where_spans_fit_in_several_texts():
    texts = {name: [NOTE] * 3 for name in ("note", "letter")}
    marks = {name: [json.dumps(MARKED)] * 3 for name in ("letter_spans", "note_spans")}
    found = settings_of(examine_documents(open_source(pa.table(texts | marks))))
    assert found == {"note": {"spans": "note_spans"}, "letter": {"spans": "letter_spans"}}


def test_a_corpus_gives_its_text_however_short(tmp_path):
    (tmp_path / "a.conll").write_text("Ann NNP B-NAME\n\n-DOCSTART-\n\nleft VBD O\n")
    found = examine_documents(open_source(tmp_path))
    assert {column.name: column.role for column in found.columns} == {
        "id": "identifier",
        "subject": "drop",
        "text": "text",
        "spans": "label",
        "pos": "drop",
    }
    assert "parts of speech" in found.columns[-1].why


def test_files_that_could_not_be_read_are_counted(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"Jos\xe9")
    (tmp_path / "b.txt").write_bytes(b"Ann")
    (text,) = [c for c in examine_documents(open_source(tmp_path)).columns if c.role == "text"]
    assert text.why.endswith("; 1 could not be read")
    assert "nothing is learnt" in text.why


def test_annotations_of_other_tools_are_told(tmp_path):
    row = {
        "full_text": NOTE,
        "spans": [{"entity_type": "NAME", "start_position": 0, "end_position": 7}],
    }
    path = tmp_path / "synthetic.jsonl"
    path.write_text(f"{json.dumps(row)}\n" * 3)
    found = {column.name: column for column in examine_documents(open_source(path)).columns}
    assert found["spans"].role == "drop"
    assert "presidio:FILE" in found["spans"].why
    opened = examine_documents(open_source(f"presidio:{path}"))
    assert settings_of(opened) == {"text": {"spans": "spans"}}


def test_a_subject_line_is_no_person():
    mail = {"subject": [f"Re: the long meeting of day {n} in room 5" for n in range(N)]}
    found = examine_documents(open_source(pa.table({**mail, "body": [NOTE] * N})))
    assert found.subject is None
    assert [column.role for column in found.columns] == ["text", "text"]


@pytest.mark.parametrize("name", ["subject", "patient", "case_subject"])
def test_a_person_a_row_is_an_identifier(name):
    who = {name: [f"P{n}" for n in range(N)], "note": [f"{NOTE} {n}" for n in range(N)]}
    found = examine_documents(open_source(pa.table(who)))
    assert (found.subject, found.columns[0].role) == (None, "identifier")
    assert found.columns[0].why == "by its name it identifies a row's person"
    again = {name: [f"P{n // 2}" for n in range(N)], "note": who["note"]}
    found = examine_documents(open_source(pa.table(again)))
    assert (found.subject, found.columns[0].role) == (name, "identifier")


def test_no_rows_and_no_values():
    empty = examine_documents(open_source(pa.table({"note": pa.array([], pa.string())})))
    assert (empty.rows, [column.role for column in empty.columns]) == (0, ["drop"])


def test_reasons_hold_no_values():
    said = examine_documents(open_source(pa.table(TABLE))).to_toml()
    for words in ("Ann", "north", "a1@", "Dear"):
        assert words not in said
