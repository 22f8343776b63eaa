"""Plain text, Word and PDF: what stands there, and one sentence where it cannot be read."""

from __future__ import annotations

import gzip
import logging
import sys

import docx
import pypdf
import pytest
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject
from tests.documents.text.formats.writers import put

from voile.core.errors import RequestError, SourceError
from voile.documents.text.corpus import Corpus
from voile.documents.text.formats import read_documents

TEXT = "Zoë e\u0301 😀\r\n\r\n\tpadded \u200b"


def test_a_folder_of_plain_text(tmp_path):
    (tmp_path / "ward").mkdir()
    put(tmp_path / "ward" / "b.TXT", TEXT, "utf-8-sig")
    put(tmp_path / "a.txt", TEXT, "utf-16")
    put(tmp_path / "empty.txt", "")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    found = {d.id: d.text for d in Corpus.read(tmp_path)}
    assert found == {"a": TEXT, "ward/b": TEXT, "c": TEXT, "empty": ""}


def test_another_encoding_has_to_be_said(tmp_path):
    path = put(tmp_path / "a.txt", "Ann and Zoë", "cp1252")
    with pytest.raises(
        SourceError, match=r"a\.txt: byte 10 is not valid utf-8 text; say its encoding"
    ):
        Corpus.read(path)
    assert Corpus.read(path, encoding="windows-1252")[0].text == "Ann and Zoë"
    with pytest.raises(RequestError, match="there is no encoding utf9"):
        Corpus.read(path, encoding="utf9")


def test_a_compressed_file_that_was_cut_short_is_refused(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"Qwertzuiop" * 9)[:-9])
    with pytest.raises(
        SourceError, match="the compressed file is damaged or truncated after 90 bytes of text"
    ) as refused:
        Corpus.read(path)
    assert "Qwert" not in str(refused.value)


def test_one_file_that_is_no_text_is_set_aside(tmp_path):
    put(tmp_path / "a.txt", "Zoë", "cp1252")
    put(tmp_path / "b.txt", "Ann")
    aside = []
    documents = read_documents(tmp_path, "txt", aside=lambda name, error: aside.append(name))
    assert ([d.text for d in documents], aside) == (["Ann"], ["a"])
    with pytest.raises(SourceError):
        list(read_documents(tmp_path, "txt"))


def word(path):
    """A Word file with text in every place that people read."""
    document = docx.Document()
    document.add_paragraph("first\tline")
    cell = document.add_table(1, 1).cell(0, 0)
    cell.text = "in a table"
    cell.add_table(1, 1).cell(0, 0).text = "in a table in it"
    paragraph = document.add_paragraph()
    paragraph.add_run("split ").bold = True
    run = paragraph.add_run("in two")
    run.add_break()
    document.add_comment(run, "a comment", author="A")
    document.sections[0].header.paragraphs[0].text = "a header"
    document.sections[0].footer.paragraphs[0].text = "a footer"
    parse = docx.oxml.parse_xml
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    for change in (
        "<w:ins><w:r><w:t>new</w:t></w:r></w:ins>",
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del>",
    ):
        paragraph._p.append(parse(change.replace(">", f" {space}>", 1)))
    box = "<w:txbxContent><w:p><w:r><w:t>a box</w:t></w:r></w:p></w:txbxContent>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    both = (
        f"<mc:AlternateContent {mc} {space}><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    paragraph.add_run("z")._r.append(parse(both))
    document.save(path)
    return path


def test_word_is_read_whole(tmp_path):
    (document,) = Corpus.read(word(tmp_path / "a.docx"))
    assert document.id == "a"
    assert document.text.split("\n") == [
        "a header", "first\tline", "in a table", "in a table in it", "", "split in two", "newz",
        "a box", "a comment", "a footer",
    ]  # fmt: skip


def pdf(path, *lines, password=None):
    """A PDF with a page for each line, in a font that every reader has."""
    writer = pypdf.PdfWriter()
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    for line in lines:
        page = writer.add_blank_page(200, 200)
        fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        stream.set_data(f"BT /F1 12 Tf 10 100 Td ({line}) Tj ET".encode())
        page[NameObject("/Contents")] = writer._add_object(stream)
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    writer.write(path)
    return path


def test_pages_of_a_pdf(tmp_path):
    (document,) = Corpus.read(pdf(tmp_path / "a.pdf", "Ann May", "second page"))
    assert (document.id, document.text) == ("a", "Ann May\nsecond page")
    (document,) = Corpus.read(pdf(tmp_path / "b.pdf", "Ann May", password=""))
    assert document.text == "Ann May"


def test_scanned_and_encrypted_pages_are_refused(tmp_path):
    with pytest.raises(SourceError, match="holds no text; let a scanned document"):
        Corpus.read(pdf(tmp_path / "a.pdf", ""))
    with pytest.raises(SourceError, match="is encrypted; save it without a password"):
        Corpus.read(pdf(tmp_path / "a.pdf", "Ann", password="secret"))


@pytest.mark.parametrize("make", [lambda path: word(path), lambda path: pdf(path, "Ann May")])
@pytest.mark.parametrize("end", [".docx", ".pdf"])
@pytest.mark.parametrize("keep", [0, 10, 300])
def test_damaged_office_files_are_refused_in_one_sentence(tmp_path, make, end, keep, caplog):
    path = make(tmp_path / "whole")
    damaged = tmp_path / f"a{end}"
    damaged.write_bytes(path.read_bytes()[:keep])
    level = logging.getLogger("pypdf").level
    with pytest.raises(
        SourceError, match=f"(the {end}|is not a whole {end[1:]}) file.*(damaged|truncated)"
    ):
        Corpus.read(damaged)
    assert not caplog.records
    assert logging.getLogger("pypdf").level == level


@pytest.mark.parametrize(
    ("end", "library", "module"), [(".docx", "python-docx", "docx"), (".pdf", "pypdf", "pypdf")]
)
def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch, end, library, module):
    monkeypatch.setitem(sys.modules, module, None)
    path = put(tmp_path / f"a{end}", "x")
    with pytest.raises(RequestError, match=rf"{library} is not .* pip install 'voile\[office\]'"):
        Corpus.read(path)


def test_office_files_have_no_encoding(tmp_path):
    with pytest.raises(RequestError, match="the format docx has no encoding to choose"):
        Corpus.read(put(tmp_path / "a.docx", ""), encoding="utf-8")
