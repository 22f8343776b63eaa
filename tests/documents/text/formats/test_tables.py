"""Text columns by their roles: a document for each row and column, spans from a column beside."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.text.formats.writers import documents, put

from voile.core.errors import RequestError, SourceError
from voile.data import open_source, open_writer
from voile.data.roles import Roles
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Span
from voile.documents.text.formats.tables import batch_documents

STRUCT = pa.list_(
    pa.struct([("start", pa.int32()), ("end", pa.int64()), ("label", pa.large_string())])
)
BOTH = {
    "note": {"role": "text", "spans": "names"},
    "names": "label",
    "letter": {"role": "text", "spans": "marks"},
    "marks": "label",
    "who": "drop",
}


def roles(columns, subject=None):
    return Roles.model_validate({"columns": columns, "subject": subject})


def structs(document):
    return [{"start": s.start, "end": s.end, "label": s.label} for s in document.spans]


@settings(max_examples=30)
@given(st.lists(st.tuples(documents(), documents()), min_size=1, max_size=4), st.data())
def test_two_text_columns_with_spans_of_both_kinds(rows, data):
    whose = [data.draw(st.none() | st.integers(0, 2)) for _ in rows]
    table = pa.table(
        {
            "note": [note.text for note, _ in rows],
            "names": pa.array([structs(note) for note, _ in rows], STRUCT),
            "letter": pa.array([letter.text for _, letter in rows], pa.large_string()),
            "marks": [
                json.dumps([[s.start, s.end, s.label] for s in one.spans]) for _, one in rows
            ],
            "who": pa.array(whose, pa.int64()),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, Path(folder, "a.parquet"), row_group_size=2)
        corpus = Corpus.from_source(open_source(Path(folder, "a.parquet")), roles(BOTH, "who"))
    both = [one for pair in rows for one in pair]
    assert [(d.text, d.spans) for d in corpus] == [(d.text, d.spans) for d in both]
    for number, document in enumerate(corpus):
        row, name = number // 2, ("note", "letter")[number % 2]
        assert document.id == f"row {row + 1}, column {name}"
        assert document.subject == (None if whose[row] is None else str(whose[row]))


@pytest.mark.parametrize("end", [".csv", ".jsonl", ".parquet", ".duckdb"])
def test_every_source_of_text(tmp_path, end):
    text = "Ann\nMay 😀"
    spans = '[{"start":0,"end":3,"label":"NAME"}]'
    table = pa.table({"note": [text, "", None], "names": [spans, None, "[]"]})
    with open_writer(tmp_path / f"a{end}", table.schema) as writer:
        writer.write(table.to_batches()[0])
    columns = {"note": {"role": "text", "spans": "names"}, "names": "label"}
    corpus = Corpus.from_source(open_source(tmp_path / f"a{end}"), roles(columns))
    assert [(d.text, d.spans, d.id) for d in corpus] == [
        (text, (Span(0, 3, "NAME"),), "row 1"),
        ("", (), "row 2"),
        ("", (), "row 3"),
    ]


def test_a_batch_without_its_spans_and_rows_counted_on():
    batch = pa.record_batch({"note": ["a", None], "letter": ["b", "c"], "who": ["p", None]})
    found = batch_documents(batch, roles(BOTH, "who"), first=8, annotated=False)
    assert [(d.id, d.text, d.subject) for d in found] == [
        ("row 8, column note", "a", "p"),
        ("row 8, column letter", "b", "p"),
        ("row 9, column note", "", None),
        ("row 9, column letter", "c", None),
    ]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ("[[0, 99, 'A']]", "row 2, column names: the spans are not JSON"),
        ('{"Qwert": 1}', "row 2, column names: the spans are not a list"),
        ('["Qwert"]', "row 2, column names: span 1 has no start, end, label"),
        ("[" * 100_000, "row 2, column names: the spans are not JSON"),
        ('[[0, 99, "A"]]', "document row 2: the span 0 to 99 is not inside the text"),
        ('[[0, 2, "A"], [1, 3, "B"]]', "document row 2: the spans 0 to 2 and 1 to 3 overlap"),
    ],
)
def test_wrong_spans_are_named_by_row_and_column(spans, message):
    frame = pd.DataFrame({"note": ["a", "Qwertzuiop"], "names": ["[]", spans]})
    columns = {"note": {"role": "text", "spans": "names"}, "names": "label"}
    with pytest.raises(RequestError, match=message) as refused:
        Corpus.from_source(open_source(frame), roles(columns))
    assert "Qwert" not in str(refused.value)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": "drop", "b": "drop"}, "roles: no column has the role text"),
        ({"a": "text"}, "column b has no role"),
        ({"a": {"role": "text", "spans": "c"}, "b": "label"}, "there is b"),
        ({"a": {"role": "text", "spans": "b"}, "b": "drop"}, 'give one: b = "label"'),
        ({"a": "drop", "b": "text"}, "column b is int64, and holds no text"),
    ],
)
def test_roles_that_do_not_fit_are_refused(columns, message):
    with pytest.raises(RequestError, match=message):
        Corpus.from_source(open_source(pd.DataFrame({"a": ["x"], "b": [1]})), roles(columns))


def test_a_table_whose_columns_say_what_they_are(tmp_path):
    path = put(tmp_path / "a.csv", 'n;text;spans;subject\n1;"Ann; May";"[[0, 3, ""NAME""]]";p\n')
    (document,) = Corpus.read(path)
    assert (document.text, document.subject, document.id) == ("Ann; May", "p", "row 1")
    assert document.spans == (Span(0, 3, "NAME"),)
    assert Corpus.read(path, subject="n")[0].subject == "1"
    with pytest.raises(RequestError, match="there is no subject column m"):
        Corpus.read(path, subject="m")
    put(path, "note,n\nAnn,1\n")
    with pytest.raises(RequestError, match="has no column text; say its columns' roles"):
        Corpus.read(path)


def test_tables_of_a_database_and_patterns(tmp_path):
    table = pa.table({"text": ["Ann"]})
    for name in ("1", "2"):
        with open_writer(tmp_path / f"{name}.duckdb", table.schema) as writer:
            writer.write(table.to_batches()[0])
        put(tmp_path / f"{name}.csv", "text\nAnn\n")
    assert len(Corpus.read(f"{tmp_path}/1.duckdb::release")) == 1
    assert [d.id for d in Corpus.read(f"{tmp_path}/*.csv")] == ["row 1", "row 2"]


def test_text_that_json_lines_hold_twice(tmp_path):
    path = put(
        tmp_path / "a.jsonl", '{"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "A"}]}'
    )
    assert [(d.text, d.spans) for d in Corpus.read(path, "table")] == [
        (d.text, d.spans) for d in Corpus.read(path, "jsonl")
    ]
    with pytest.raises(SourceError, match="half of a character"):
        Corpus.read(put(path, '{"text": "\\ud800"}'), "table")


def test_parts_of_speech_are_read_from_the_column_that_the_text_names():
    columns = {"note": {"role": "text", "pos": "words"}, "words": "drop"}
    roles = Roles.model_validate({"columns": columns})
    words = [json.dumps([{"start": 0, "end": 3, "tag": "NNP"}, [4, 8, "VBD"]]), None, "[]"]
    table = pa.table({"note": ["Ann left", "Ann", ""], "words": words})
    pos = [one.pos for one in Corpus.from_source(open_source(table), roles)]
    assert pos == [((0, 3, "NNP"), (4, 8, "VBD")), (), ()]
    (batch,) = table.select(["note"]).to_batches()
    assert [one.pos for one in batch_documents(batch, roles)] == [()] * 3
    wrong = pa.table({"note": ["Ann"], "words": ['[{"start": 0, "end": 3}]']})
    with pytest.raises(SourceError, match=r"row 1, parts of speech: span 1 has no start, end, tag"):
        Corpus.from_source(open_source(wrong), roles)
    columns["note"]["pos"] = "word"
    with pytest.raises(RequestError, match="of column note are in no column; did you mean words"):
        Corpus.from_source(open_source(table), Roles.model_validate({"columns": columns}))
