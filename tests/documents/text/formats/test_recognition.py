"""Without a format the names and beginnings of files tell it, or one sentence asks for it."""

from __future__ import annotations

from pathlib import Path

import docx
import pytest
from tests.documents.text.formats.writers import put

from voile.core.errors import RequestError
from voile.documents.text.corpus import Corpus
from voile.documents.text.formats import FORMATS
from voile.documents.text.formats.recognition import recognise

FILES = {
    ("a.jsonl", '{"text": "a", "label": "spam"}'): "jsonl",
    ("a.json", '[{"full_text": "a"}]'): "presidio",
    ("a.ndjson", '{"text": "a", "label": []}'): "doccano",
    ("a.conll", "anything"): "conll",
    ("a.txt", "-DOCSTART- -X- O O\n\na NN - O\n"): "conll",
    ("b.txt", "a O\nb B-X\n"): "conll",
    ("c.txt", "Vitamin O"): "txt",
    ("d.txt", "Vitamin O\nhepatitis B-virus\nis not."): "txt",
    ("e.txt", ""): "txt",
    ("a.tsv", "doc\ttoken\tbio\n"): "conll-header",
    ("b.tsv", "a\tO\nb\tI-X\n"): "conll",
    ("c.tsv", "text\tsubject\na\tp\n"): "table",
    ("d.tsv", "subject\ttext\np\ta\n"): "table",
    ("a.xml", "<ROOT><RECORD ID='1'><TEXT>"): "i2b2-2006",
    ("b.xml", "<deIdi2b2><TEXT>"): "i2b2-2014",
    ("a.csv", "text\na\n"): "table",
    ("a.parquet", ""): "table",
    ("a.pdf", ""): "pdf",
    ("a.eml", ""): "eml",
    ("a.HTM", ""): "html",
    ("b.json", '{"resourceType": "DocumentReference"}'): "fhir",
    ("c.json", '{\n "resourceType": "Bundle",\n "entry": []\n}'): "fhir",
}


@pytest.mark.parametrize(("name", "content"), FILES)
def test_a_file_is_told_by_its_name_and_beginning(tmp_path, name, content):
    assert recognise(put(tmp_path / name, content)) == FILES[name, content]
    assert recognise(tmp_path) == FILES[name, content]


def test_every_format_can_be_told(tmp_path):
    put(tmp_path / "z.txt", "")
    put(tmp_path / "z.ann", "")
    docx.Document().save(tmp_path / "a.docx")
    told = {recognise(tmp_path / "z.txt"), recognise(tmp_path / "a.docx"), *FILES.values()}
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    put(mixed / "a.txt", "")
    put(mixed / "b.html", "")
    told.add(recognise(mixed, mixed=True))
    assert told == {*FORMATS} - {"conll-sentences"}


def test_addresses_are_tables():
    for name in ("county.duckdb::notes", "postgresql://host/county::notes", "service=county"):
        assert recognise(name) == "table"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.rtf": "x"}, r"a\.rtf: \.rtf files are not known; say its format"),
        ({"README": "x"}, "README: its files are not known"),
        ({"a.txt": "x", "b.pdf": "x"}, "has files of several formats: pdf, txt; say which to read"),
        ({".hidden": "x"}, "holds no files"),
        ({}, "holds no files"),
        ({"a.xml": "<Qwert/>"}, "is not XML of i2b2"),
    ],
)
def test_what_cannot_be_told_is_said(tmp_path, files, message):
    for name, content in files.items():
        put(tmp_path / name, content)
    with pytest.raises(RequestError, match=message):
        Corpus.read(tmp_path)


def test_the_one_asked_for_is_taken_from_a_folder(tmp_path):
    put(tmp_path / "a.txt", "x")
    put(tmp_path / "b.pdf", "x")
    assert [d.id for d in Corpus.read(tmp_path, "txt")] == ["a"]
    with pytest.raises(RequestError, match=r"holds no \.docx"):
        Corpus.read(tmp_path, "docx")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file that nobody can read")
@pytest.mark.parametrize("format", [None, "txt"])
def test_what_the_system_does_not_let_be_read_is_said(tmp_path, format):
    (tmp_path / "a.txt").symlink_to("/proc/self/mem")
    with pytest.raises(RequestError, match=r"a\.txt: cannot be read \(Input/output error\)"):
        Corpus.read(tmp_path, format)


def test_files_and_formats_that_are_not_there(tmp_path):
    path = put(tmp_path / "notes.txt", "x")
    with pytest.raises(RequestError, match=r"no such file or folder; did you mean notes\.txt"):
        Corpus.read(tmp_path / "note.txt")
    with pytest.raises(RequestError, match="no name there is like it") as found:
        Corpus.read(tmp_path / "q")
    assert "notes" not in str(found.value)  # it may be somebody's name
    with pytest.raises(RequestError, match="there is no folder"):
        Corpus.read(tmp_path / "none" / "note.txt")
    with pytest.raises(RequestError, match="there is no format i2b2; did you mean i2b2-2"):
        Corpus.read(path, "i2b2")
    with pytest.raises(RequestError, match="the format txt has no subject to choose"):
        Corpus.read(path, subject="id")
