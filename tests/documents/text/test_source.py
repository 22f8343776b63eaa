"""Corpora of any format as rows, which give back the documents that the formats read."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.text.formats.writers import CANARY, documents, put

from voile.core.errors import RequestError, SourceError
from voile.data.formats.jsonlines import LINE_BYTES
from voile.data.roles import Roles
from voile.documents import Corpus
from voile.documents.text import source as sources
from voile.documents.text.document import Span
from voile.documents.text.formats.tables import batch_documents
from voile.documents.text.reader import why_unusable
from voile.documents.text.source import (
    UNREAD,
    CorpusSource,
    UnreadWarning,
    is_corpus,
    open_source,
    split_format,
)

COLUMNS = ["id", "subject", "text", "spans", "pos"]
ROLES = Roles.model_validate(
    {
        "columns": {
            "id": "identifier",
            "subject": "identifier",
            "text": {"role": "text", "spans": "spans"},
            "spans": "label",
            "pos": "drop",
        },
        "subject": "subject",
    }
)
I2B2 = "<n><TEXT>Ann left</TEXT><TAGS><NAME start='0' end='3' text='Ann' TYPE='NAME'/></TAGS></n>"
POS = [{"start": 0, "end": 3, "tag": "NNP"}, {"start": 4, "end": 8, "tag": "VBD"}]
FILES = {
    "a.conll": "Ann NNP B-NAME\nleft VBD O\n",
    "a.tsv": "doc\ttoken\tpos\tbio\n1\tAnn\tNNP\tB-NAME\n1\tleft\tVBD\tO\n",
    "a.json": '[{"full_text": "Ann left", "spans": []}]',
    "a.xml": I2B2,
    "a.txt": "Ann left",
}


def rows(source, **how):
    """All rows of a source, as dictionaries."""
    return [row for batch in source.batches(**how) for row in batch.to_pylist()]


@given(st.lists(documents(), min_size=1, max_size=5), st.integers(1, 3))
@settings(max_examples=60)
def test_rows_give_back_the_documents_that_the_format_reads(corpus, batch_rows):
    with tempfile.TemporaryDirectory() as folder:
        lines = [
            {
                "id": str(number),
                "text": one.text,
                "spans": [[s.start, s.end, s.label] for s in one.spans],
                "subject": str(number // 2) if number else None,
            }
            for number, one in enumerate(corpus)
        ]
        path = put(Path(folder) / "n.jsonl", "".join(map("{}\n".format, map(json.dumps, lines))))
        source = open_source(f"jsonl:{path}")
        batches = list(source.batches(batch_rows=batch_rows))
        assert max(map(len, batches)) <= batch_rows
        found = [one for batch in batches for one in batch_documents(batch, ROLES)]
        read = Corpus.read(path, "jsonl")
    assert [(d.text, d.spans, d.subject) for d in found] == [
        (d.text, d.spans, d.subject) for d in read
    ]
    assert [cell for batch in batches for cell in batch["id"].to_pylist()] == [d.id for d in read]


@pytest.mark.parametrize("name", FILES)
def test_every_format_has_the_same_columns(tmp_path, name):
    source = open_source(put(tmp_path / name, FILES[name]))
    assert isinstance(source, CorpusSource)
    assert list(source.columns) == COLUMNS
    (row,) = rows(source)
    (document,) = Corpus.read(tmp_path / name)
    assert (row["text"], row["id"]) == (document.text, document.id)
    spans = {"a.txt": None, "a.json": []}.get(name, [{"start": 0, "end": 3, "label": "NAME"}])
    assert (None if row["spans"] is None else json.loads(row["spans"])) == spans
    pos = POS if name in ("a.conll", "a.tsv") else None
    assert (None if row["pos"] is None else json.loads(row["pos"])) == pos
    assert rows(source, columns=["text"]) == [{"text": document.text}]


def test_a_format_that_is_said_is_taken(tmp_path):
    path = put(tmp_path / "my tweets.txt", "Ann B-NAME\r\n\r\nBob B-NAME\r\n")
    assert [row["text"] for row in rows(open_source(path))] == ["Ann\nBob"]
    said = open_source(f"conll-sentences:{path}")
    assert [row["text"] for row in rows(said)] == ["Ann", "Bob"]
    assert (said.name, said.kind) == ("my tweets.txt", "conll-sentences")


def test_tables_are_opened_as_everywhere(tmp_path):
    lines = put(tmp_path / "a.jsonl", '{"text": "Ann", "ward": "north"}\n')
    table = put(tmp_path / "b.tsv", "text\tward\nAnn\tnorth\n")
    for thing in (
        lines,
        table,
        f"table:{table}",
        pd.DataFrame({"text": ["Ann"], "ward": ["north"]}),
    ):
        source = open_source(thing)
        assert not isinstance(source, CorpusSource)
        assert rows(source) == [{"text": "Ann", "ward": "north"}]
    assert open_source(source) is source


def test_what_is_a_corpus_by_name(tmp_path):
    for name in (tmp_path, "a.CONLL.gz", "*.docx", "brat:a.csv", "ward.1/a.xml"):
        assert is_corpus(name)
    for name in ("a.csv", "a.txt", "table:a.xml", "a.jsonl", "county.duckdb::notes", "https:a"):
        assert not is_corpus(name)


def test_a_file_that_is_no_text_is_set_aside_in_its_place(tmp_path):
    for name in "abcd":
        (tmp_path / f"{name}.txt").write_bytes(b"Jos\xe9" if name in "bd" else b"Ann")
    with pytest.warns(
        UnreadWarning, match="document 2, by name: byte 3 is not valid utf-8"
    ) as warned:
        found = rows(open_source(tmp_path))
    assert len(warned) == 1
    assert ".txt" not in str(warned[0].message)
    assert [row["id"] for row in found] == [*"abcd"]
    assert [row["text"] for row in found] == ["Ann", UNREAD, "Ann", UNREAD]
    assert why_unusable(UNREAD) is not None
    read = rows(open_source(tmp_path, encoding="windows-1252"))
    assert [row["text"] for row in read] == ["Ann", "José", "Ann", "José"]


def test_a_file_without_end_is_not_read_whole(tmp_path):
    with gzip.open(tmp_path / "a.txt.gz", "wb", compresslevel=1) as file:
        file.writelines([b"A" * (1 << 20)] * ((LINE_BYTES >> 20) + 1))
    put(tmp_path / "b.txt", "Ann")
    with pytest.warns(UnreadWarning, match="document 1, by name: is longer than 64 MiB"):
        assert [row["text"] for row in rows(open_source(tmp_path))] == [UNREAD, "Ann"]
    with pytest.raises(SourceError, match=r"a\.txt\.gz: is longer than 64 MiB"):
        Corpus.read(tmp_path)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("T1\tNAME 4 400", "document a: the span 4 to 400 is not inside"),
        ("T1\tNAME 0 3\tAnn", "document a: at 0 to 3 the text differs"),
        ("T1 NAME 0 3", r"a\.ann: line 1 is not an annotation"),
    ],
)
def test_wrong_spans_are_refused_and_not_set_aside(tmp_path, annotation, message):
    put(tmp_path / "a.txt", CANARY)
    put(tmp_path / "a.ann", f"{annotation}\n")
    with pytest.raises(RequestError, match=message) as found:
        rows(open_source(tmp_path))
    assert CANARY not in str(found.value)


def test_a_batch_ends_where_texts_are_long(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_CHARACTERS", 10)
    for number in range(6):
        put(tmp_path / f"{number}.txt", "12345")
    assert [len(batch) for batch in open_source(tmp_path).batches()] == [2, 2, 2]


def test_the_fingerprint_is_of_the_files_that_are_read(tmp_path):
    put(tmp_path / "a.txt", "Ann")
    notes = put(tmp_path / "a.ann", "T1\tNAME 0 3\tAnn\n")
    seen = {open_source(tmp_path).fingerprint()}
    assert open_source(f"brat:{tmp_path / 'a.txt'}").fingerprint() in seen
    put(tmp_path / "annotation.conf", "[entities]")
    assert open_source(tmp_path).fingerprint() in seen
    put(notes, "T1\tNAME 0 2\tAn\n")
    seen.add(open_source(tmp_path).fingerprint())
    put(tmp_path / "a.txt", "Anna")
    seen.add(open_source(tmp_path).fingerprint())
    assert len(seen) == 3


def test_what_cannot_be_opened_is_said(tmp_path):
    empty = put(tmp_path / "a.conll", "\n\n")
    with pytest.raises(SourceError, match=r"a\.conll: holds no document"):
        rows(open_source(empty))
    with pytest.raises(RequestError, match="the format conll has no table to choose"):
        open_source(empty, table="notes")
    with pytest.raises(RequestError, match="the format docx has no encoding to choose"):
        rows(open_source(f"docx:{empty}", encoding="utf-8"))
    with pytest.raises(RequestError, match="there is no such file"):
        open_source(tmp_path / "b.conll")
    put(tmp_path / "b.xml", I2B2)
    with pytest.raises(RequestError, match="several formats: conll, i2b2-2014"):
        open_source(tmp_path)


def test_a_folder_is_called_by_its_name(tmp_path, monkeypatch):
    put(tmp_path / "a.txt", "Ann")
    monkeypatch.chdir(tmp_path)
    assert open_source(".").name == tmp_path.name
    assert open_source(f"{tmp_path}{os.sep}").name == tmp_path.name


def test_documents_of_a_table_are_those_of_a_corpus(tmp_path):
    put(tmp_path / "a.conll", FILES["a.conll"])
    (batch,) = open_source(tmp_path).batches()
    (document,) = batch_documents(batch, ROLES)
    assert document.spans == (Span(0, 3, "NAME"),)
    assert pa.types.is_string(batch.schema.field("spans").type)


def test_examples_of_split_format():
    assert (split_format("brat:notes"), split_format("C:notes")) == (
        ("notes", "brat"),
        ("C:notes", None),
    )
