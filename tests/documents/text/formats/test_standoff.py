"""brat and i2b2: annotations beside or inside the text count the characters that it has."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents.text.formats.writers import documents, put, same

from voile.core.errors import RequestError, SourceError
from voile.documents.text.corpus import Corpus
from voile.documents.text.document import Document, Span
from voile.documents.text.formats import read_documents

TYPES = st.sampled_from(["NAME", "DATE", "B-X", "LOC"])
DOCUMENTS = documents(spans=TYPES)


def ann(document, move=int):
    """Write an .ann file; brat has no line ends in what it quotes."""
    lines = ["R1\tIs Arg1:T1 Arg2:T2", "#1\tNote T1\tMay"]
    for number, span in enumerate(document.spans, 1):
        words = " ".join(document.text[span.start : span.end].split())
        lines.append(f"T{number}\t{span.label} {move(span.start)} {move(span.end)}\t{words}")
    return "\n".join(lines)


def cdata(text):
    """Write a text as CDATA, which cannot hold its own end."""
    return "<![CDATA[" + text.replace("]]>", "]]]]><![CDATA[>") + "]]>"


def tags(document, move=int, quoted=True):
    """Write the TAGS of i2b2 2014."""
    for number, span in enumerate(document.spans):
        words = document.text[span.start : span.end].replace("\r\n", "\n")
        said = f"text={quoteattr(words)}" if quoted else ""
        yield (
            f'<PHI id="P{number}" start="{move(span.start)}" end="{move(span.end)}" {said} '
            f'TYPE="{span.label}" comment="" />'
        )


def challenge(document, body=cdata, **how):
    """Write a file of i2b2 2014."""
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n<TEXT>' + body(document.text)
        + "</TEXT>\n<TAGS>\n" + "\n".join(tags(document, **how)) + "\n</TAGS>\n</deIdi2b2>"
    )  # fmt: skip


def inline(document):
    """Write a TEXT of i2b2 2006."""
    parts, at = [], 0
    for span in document.spans:
        words = escape(document.text[span.start : span.end])
        parts += [escape(document.text[at : span.start]), f'<PHI TYPE="{span.label}">{words}</PHI>']
        at = span.end
    return "<TEXT>" + "".join(parts) + escape(document.text[at:]) + "</TEXT>"


def without_returns(document):
    """Where a place of the text is when a Windows line end counts as one character."""
    return lambda place: len(document.text[:place].replace("\r\n", "\n"))


def apart(document):
    """Whether no span begins or ends inside a Windows line end, or consists of blanks alone."""
    text = document.text
    places = [place for span in document.spans for place in (span.start, span.end)]
    inside = any(text[place - 1 : place + 1] == "\r\n" for place in places if place)
    return not inside and all(text[s.start : s.end].strip() for s in document.spans)


@settings(max_examples=40)
@given(st.lists(DOCUMENTS, min_size=1, max_size=3), st.booleans())
def test_brat_reads_back_from_a_folder(corpus, compressed):
    with tempfile.TemporaryDirectory() as folder:
        for number, document in enumerate(corpus):
            for end, text in ((".txt", document.text), (".ann", ann(document))):
                path = put(Path(folder, f"{number}{end}"), text)
                if compressed:
                    path.with_name(path.name + ".gz").write_bytes(gzip.compress(text.encode()))
                    path.unlink()
        put(Path(folder, "annotation.conf"), "[entities]")
        put(Path(folder, ".hidden"), "")
        found = Corpus.read(folder)
    assert same(found, corpus)
    assert [document.id for document in found] == [*map(str, range(len(corpus)))]


@settings(max_examples=40)
@given(DOCUMENTS, st.sampled_from([cdata, escape]), st.booleans())
def test_i2b2_2014_reads_back(document, body, quoted):
    with tempfile.TemporaryDirectory() as folder:
        content = challenge(document, body, quoted=quoted, move=without_returns(document))
        found = Corpus.read(put(Path(folder, "110-02.xml"), content))
    assert (found[0].id, found[0].subject) == ("110-02", "110")
    assert found[0].text == document.text
    if apart(document):
        assert same(found, [document])


@settings(max_examples=40)
@given(st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_i2b2_2006_reads_back(corpus):
    records = [f'<RECORD ID="{n}">\n{inline(d)}\n</RECORD>' for n, d in enumerate(corpus, 7)]
    with tempfile.TemporaryDirectory() as folder:
        found = Corpus.read(put(Path(folder, "a.xml"), "<ROOT>" + "".join(records) + "</ROOT>"))
    assert same(found, corpus)
    assert [document.id for document in found] == [str(7 + n) for n in range(len(corpus))]


@pytest.mark.parametrize("counts", ["every character", "a line end once"])
@given(document=DOCUMENTS.filter(apart))
@settings(max_examples=30)
def test_what_is_quoted_tells_how_line_ends_were_counted(counts, document):
    move = int if counts == "every character" else without_returns(document)
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "a.txt"), document.text)
        put(Path(folder, "a.ann"), ann(document, move))
        put(Path(folder, "b.xml"), challenge(document, move=move))
        for found in (Path(folder, "a.ann"), Path(folder, "b.xml")):
            (read,) = Corpus.read(found)
            assert read.text == document.text
            words = [document.text[s.start : s.end].split() for s in document.spans]
            assert [read.text[s.start : s.end].split() for s in read.spans] == words


@pytest.mark.parametrize("counts", [0, 1])
@given(document=DOCUMENTS.filter(apart))
@settings(max_examples=30)
def test_what_is_quoted_tells_whether_a_byte_order_mark_was_counted(counts, document):
    with tempfile.TemporaryDirectory() as folder:
        put(Path(folder, "a.txt"), f"\ufeff{document.text}")
        put(Path(folder, "a.ann"), ann(document, lambda place: place + counts))
        (read,) = Corpus.read(Path(folder, "a.ann"))
    assert read.text == document.text
    words = [document.text[s.start : s.end].split() for s in document.spans]
    assert [read.text[s.start : s.end].split() for s in read.spans] == words


def test_line_ends_of_windows_move_nothing(tmp_path):
    document = Document("Ann\r\nMay\r\nWu", (Span(5, 8, "NAME"), Span(10, 12, "NAME")))
    for move in (int, without_returns(document)):
        put(tmp_path / "a.txt", document.text)
        put(tmp_path / "a.ann", ann(document, move))
        assert same(Corpus.read(tmp_path / "a.txt"), [document])
        assert same(
            Corpus.read(put(tmp_path / "b.xml", challenge(document, move=move))), [document]
        )


def test_pieces_are_spans_and_the_same_span_twice_is_one(tmp_path):
    put(tmp_path / "a.txt", "Ann B. May")
    put(tmp_path / "a.ann", "T1\tNAME 0 3;7 10\tAnn May\nT2\tNAME 0 3\tAnn\n")
    (document,) = Corpus.read(tmp_path)
    assert document.spans == (Span(0, 3, "NAME"), Span(7, 10, "NAME"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("T1\tNAME 0 3;2 6\tQwe ertz", "the spans 0 to 3 and 2 to 6 overlap"),
        ("T1\tNAME 5 99\tQwert", "the span 5 to 99 is not inside the text"),
        ("T1\tNAME 1 4\tQwe", "document a: at 1 to 4 the text differs"),
        ("T1\tNAME 0 3;6 7\tQwe t", "document a: at 0 to 3 the text differs"),
        ("T1 NAME 0 3 Qwe", "a.ann: line 1 is not an annotation"),
        ("T1\tNAME 0 Qwe", "a.ann: line 1 is not an annotation"),
        ("Qwertzuiop", "a.ann: line 1 is not an annotation"),
    ],
)
def test_wrong_annotations_are_refused(tmp_path, content, message):
    put(tmp_path / "a.txt", "Qwertzuiop")
    put(tmp_path / "a.ann", content)
    with pytest.raises(RequestError, match=message) as refused:
        Corpus.read(tmp_path)
    assert "Qwe" not in str(refused.value)


def test_half_a_pair_is_refused(tmp_path):
    put(tmp_path / "a.txt", "a")
    with pytest.raises(SourceError, match=r"a.txt: has no .ann file next to it"):
        Corpus.read(tmp_path, "brat")
    put(tmp_path / "b.ann", "")
    for asked in (tmp_path, tmp_path / "b.ann"):
        with pytest.raises(SourceError, match=r"b.ann: has no .txt file next to it"):
            Corpus.read(asked)


def test_a_record_without_tags_or_patient(tmp_path):
    path = put(tmp_path / "note.xml", "<a><TEXT>Ann</TEXT></a>")
    assert [(d.text, d.spans, d.subject) for d in Corpus.read(path)] == [("Ann", (), None)]


XML = {
    '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///x">]><a><TEXT>&b;</TEXT></a>': "document type",
    '<!DOCTYPE a [<!ENTITY b "Qwert">]><a><TEXT>&b;</TEXT></a>': "declares a document type",
    "<a><TEXT>&b;</TEXT></a>": "is not well-formed XML at line 1, character 10",
    "<a>\n<TEXT>Qwert</a>": "is not well-formed XML at line 2",
    "<a><TEXT>Qwert</TEXT>": "is not well-formed XML",
    "<a><TEXT>\x01</TEXT></a>": "is not well-formed XML",
    '<a><TEXT>Qwert</TEXT><TAGS><N start="x" end="2"/></TAGS></a>': "tag 1 has no start and end",
    '<a><TEXT>Qwert</TEXT><TAGS><N start="1"/></TAGS></a>': "tag 1 has no start and end",
    '<a><TEXT>Qwert</TEXT><TAGS><N start="3" end="9"/></TAGS></a>': "3 to 9 is not inside the text",
    '<a><TEXT>Qwert</TEXT><TAGS><N start="1" end="3" text="Qw"/></TAGS></a>': "at 1 to 3 the text",
    "<a><TAGS><TEXT/></TAGS></a>": "document 1-1: holds no TEXT element",
    "<a><Qwert/></a>": "is not XML of i2b2",
    "<R><RECORD ID='3'/></R>": "document 3: holds no TEXT element",
    "<R><RECORD><TEXT>ab<PHI>Qwert</PHI></TEXT></RECORD></R>": "document 1: the element at 2",
    "<R><RECORD><TEXT><Qwert TYPE='A'/></TEXT></RECORD></R>": "the element at 0 is not a PHI",
    "<R><RECORD><TEXT><PHI TYPE='A'><PHI TYPE='B'/></PHI></TEXT></RECORD></R>": "the element at 0",
    "<R><RECORD><TEXT><PHI TYPE='A'/></TEXT></RECORD></R>": "the span 0 to 0 is empty",
    "<R><!-- <RECORD --></R>": "holds no RECORD element",
    "<R><RECORD><TEXT>a\r\ufdd0</TEXT></RECORD></R>": "holds U\\+FDD0",
}  # fmt: skip


@pytest.mark.parametrize("content", XML)
def test_damaged_or_dangerous_xml_is_refused(tmp_path, content):
    with pytest.raises(RequestError, match=XML[content]) as refused:
        Corpus.read(put(tmp_path / "1-1.xml", content))
    assert "Qw" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_xml_says_its_encoding(tmp_path):
    content = '<?xml version="1.0" encoding="iso-8859-1"?><a><TEXT>Zoé</TEXT></a>'
    path = put(tmp_path / "a.xml", content, "latin-1")
    assert Corpus.read(path)[0].text == "Zoé"
    assert Corpus.read(path, encoding="cp1252")[0].text == "Zoé"
    put(path, content.replace("iso-8859-1", "utf-8"), "latin-1")
    with pytest.raises(SourceError, match="is not valid utf-8 text; say its encoding"):
        Corpus.read(path)
    put(path, content.replace("iso-8859-1", "utf-16"), "utf-16")
    assert Corpus.read(path)[0].text == "Zoé"


def test_one_bad_file_can_be_set_aside(tmp_path):
    put(tmp_path / "1-1.xml", "<a><TEXT>a</TEXT></a>")
    put(tmp_path / "1-2.xml", "<a><TEXT>Qwert")
    put(tmp_path / "1-3.xml", "<a><TEXT></TEXT></a>")
    aside = []
    told = lambda name, error: aside.append((name, str(error)))  # noqa: E731
    assert [d.id for d in read_documents(tmp_path, aside=told)] == ["1-1", "1-3"]
    assert [name for name, _ in aside] == ["1-2"]
    assert "not well-formed XML" in aside[0][1]
