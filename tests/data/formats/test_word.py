"""Word files written again: the text as changed, the styles as they were, and nothing unseen."""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from hypothesis import given, settings
from hypothesis import strategies as st

from voile.core.errors import SourceError
from voile.data.formats.word import WordFile
from voile.data.formats.word_writing import TextChange, change_text, rewrite

CANARY = "Qwertzuiop"
SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006"
NAME = "letter.docx"


def xml(text):
    return parse_xml(re.sub(r"[ />]", lambda end: f" {SPACE}{end[0]}", text, count=1))


def run(words):
    return f"<w:r><w:t>{words}</w:t></w:r>"


def png():
    """A picture with a canary among its chunks."""
    said = b"tEXt" + b"Comment\0" + CANARY.encode()
    chunk = struct.pack(">I", len(said) - 4) + said + struct.pack(">I", zlib.crc32(said))
    size = b"IHDR" + struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    data = b"IDAT" + zlib.compress(b"\0\0")
    parts = [size, data, b"IEND"]
    packed = [
        struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one)) for one in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + packed[0] + chunk + b"".join(packed[1:])


def letter():
    """A letter with the canary wherever Word can keep one, seen only in its second line."""
    word = docx.Document()
    word.core_properties.author = word.core_properties.title = CANARY
    style = word.styles.add_style(f"{CANARY} style", 1)
    style.font.bold = True
    word.add_heading("Letter", 1)
    first = word.add_paragraph(style=style)
    first.add_run("Dear Ms ").italic = True
    first.add_run(CANARY[:5]).bold = True
    first.add_run(f"{CANARY[5:]} ,")
    second = word.add_paragraph("we saw\tyou .")
    word.add_picture(io.BytesIO(png()))
    for drawn in word.element.body.iter("{*}docPr"):
        drawn.set("descr", CANARY)
    link = word.part.relate_to(f"mailto:{CANARY}@x.example", RELATIONSHIP_TYPE.HYPERLINK, True)
    r = f'xmlns:r="{OFFICE}/relationships"'
    by = f'w:author="{CANARY}"'
    for more in (
        f'<w:hyperlink {r} r:id="{link}" w:tooltip="{CANARY}">{run("a link")}</w:hyperlink>',
        f'<w:bookmarkStart w:id="7" w:name="{CANARY}"/>',
        f'<w:ins w:id="1" {by} w:date="2019-01-01T00:00:00Z">{run(" new")}</w:ins>',
        f'<w:del w:id="2" {by}><w:r><w:delText>{CANARY}</w:delText><w:tab/></w:r></w:del>',
        f'<w:moveFrom w:id="3" {by}>{run(CANARY)}</w:moveFrom>',
        f'<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>AUTHOR {CANARY}</w:instrText></w:r>',
        f'<w:sdt><w:sdtPr><w:alias w:val="{CANARY}"/></w:sdtPr>'
        f"<w:sdtContent>{run(' field')}</w:sdtContent></w:sdt>",
        f'<w:smartTag w:uri="{CANARY}" w:element="x">{run(" tag")}</w:smartTag>',
        f'<w:r w:rsidR="00AB12CD"><w:rPr><w:rPrChange w:id="4" {by}/></w:rPr><w:t> end</w:t></w:r>',
    ):
        second._p.append(xml(more))
    table = word.add_table(1, 1)
    table.cell(0, 0).text = "a cell"
    table._tbl.tblPr.append(xml(f'<w:tblCaption w:val="{CANARY}"/>'))
    word.add_comment(second.runs[0], "a comment", author=CANARY, initials="QW")
    word.sections[0].header.paragraphs[0].text = "a header"
    word.settings.element.append(
        xml(f'<w:docVars><w:docVar w:name="x" w:val="{CANARY}"/></w:docVars>')
    )
    own = Part(PackURI("/customXml/item9.xml"), "application/xml", f"<a>{CANARY}</a>".encode())
    word.part.relate_to(own, RELATIONSHIP_TYPE.CUSTOM_XML)
    return word


def saved(word):
    stream = io.BytesIO()
    word.save(stream)
    return stream.getvalue()


def removing(raw, *words):
    """The text of a file, and changes that put a mark for each word."""
    text = WordFile(raw, NAME).text
    found = sorted(m.span() for word in words for m in re.finditer(re.escape(word), text))
    return text, [TextChange(start, end, "[NAME]") for start, end in found]


def parts_of(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_nothing_removed_is_in_any_byte_and_the_styles_are_kept():
    raw = saved(letter())
    text, changes = removing(raw, CANARY)
    assert len(changes) == 1
    made = rewrite(raw, NAME, text, changes)
    parts = parts_of(made)
    for name, part in parts.items():
        for canary in (CANARY, CANARY[:5], CANARY[5:], "x.example", "2019", "AB12CD", "PNG"):
            assert canary.encode() not in part, name
            assert canary not in name
    again = docx.Document(io.BytesIO(made))
    assert [p.text for p in again.paragraphs[:3]] == [
        "Letter", "Dear Ms [NAME] ,", "we saw\tyou .a link new field tag end",
    ]  # fmt: skip
    assert [run.bold for run in again.paragraphs[1].runs] == [None, True, None]
    assert again.paragraphs[0].style.name == "Heading 1"
    assert again.paragraphs[1].style.font.bold is True
    assert again.tables[0].cell(0, 0).text == "a cell"
    assert again.sections[0].header.paragraphs[0].text == "a header"
    assert [(one.text, one.author) for one in again.comments] == [("a comment", "")]
    assert not {name for name in parts if "customXml" in name or "docProps" in name}
    assert rewrite(raw, NAME, text, changes) == made
    assert rewrite(made, NAME, change_text(text, changes), []) is not None


def test_text_boxes_become_paragraphs():
    word = docx.Document()
    paragraph = word.add_paragraph("before")
    box = "<w:txbxContent><w:p><w:r><w:t>Ann May</w:t></w:r></w:p></w:txbxContent>"
    mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    both = (
        f"<mc:AlternateContent {mc} {SPACE}><mc:Choice><w:drawing>{box}</w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent>"
    )
    paragraph.add_run()._r.append(parse_xml(both))
    word.add_paragraph("after")
    raw = saved(word)
    text, changes = removing(raw, "Ann May")
    made = rewrite(raw, NAME, text, changes)
    shown = [p.text for p in docx.Document(io.BytesIO(made)).paragraphs]
    assert shown == ["before", "[NAME]", "after"]
    assert b"Ann" not in parts_of(made)["word/document.xml"]


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_changes_are_made_where_they_are(data):
    word = docx.Document()
    for words in data.draw(st.lists(st.lists(st.sampled_from(["ab", "\t", "c d", "é"])))):
        paragraph = word.add_paragraph()
        for one in words:
            paragraph.add_run(one)
    raw = saved(word)
    text = WordFile(raw, NAME).text
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pairs = list(zip(places[::2], places[1::2], strict=False))
    changes = [
        TextChange(start, end, data.draw(st.sampled_from(["[X]", "é"]))) for start, end in pairs
    ]
    if any("\n" in text[a:b] or not text[a:b].strip("\t") for a, b, _ in changes):
        with pytest.raises(SourceError, match="crosses the end of a paragraph"):
            rewrite(raw, NAME, text, changes)
    else:
        made = rewrite(raw, NAME, text, changes)
        assert WordFile(made, NAME).text == change_text(text, changes)


def packed(raw, **more):
    """The same archive with other or more parts."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in {**parts_of(raw), **more}.items():
            archive.writestr(name, part)
    return stream.getvalue()


def with_relation(kind):
    word = docx.Document()
    name = PackURI("/word/embeddings/a.bin")
    part = Part(name, "application/octet-stream", CANARY.encode())
    word.part.relate_to(part, f"{OFFICE}/relationships/{kind}")
    return saved(word)


EQUATION = (
    '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
    f"<m:r><m:t>{CANARY}</m:t></m:r></m:oMath>"
)


def with_equation():
    word = docx.Document()
    word.add_paragraph("x")._p.append(parse_xml(EQUATION))
    return saved(word)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: with_relation("oleObject"), "embeds objects, charts or files"),
        (lambda: with_relation("chart"), "embeds objects, charts or files"),
        (lambda: with_relation("aFChunk"), "embeds objects, charts or files"),
        (lambda: with_relation(CANARY), "embeds objects, charts or files"),
        (with_equation, "holds text where none is read, such as an equation"),
    ],
)
def test_what_cannot_be_cleaned_is_refused(make, said):
    raw = make()
    with pytest.raises(SourceError, match=f"{NAME}: {said}") as refused:
        rewrite(raw, NAME, WordFile(raw, NAME).text, [])
    assert CANARY not in str(refused.value)


def test_a_removed_word_in_the_formatting_is_refused():
    word = docx.Document()
    run = word.add_paragraph().add_run("Zyxandra came")
    run.font.color.rgb = docx.shared.RGBColor(0, 0, 0)
    run._element.rPr.find(qn("w:color")).set(qn("w:themeColor"), "Zyxandra")
    raw = saved(word)
    text, changes = removing(raw, "Zyxandra")
    with pytest.raises(SourceError, match="its formatting contains a removed text as well"):
        rewrite(raw, NAME, text, changes)


def test_the_default_replaces_a_font_that_nobody_knows():
    word = docx.Document()
    word.add_paragraph().add_run("Zyxandra came").font.name = "Zyxandra Sans"
    word.add_paragraph().add_run("well").font.name = "Georgia"
    raw = saved(word)
    text, changes = removing(raw, "Zyxandra")
    made = docx.Document(io.BytesIO(rewrite(raw, NAME, text, changes)))
    assert [one.runs[0].font.name for one in made.paragraphs] == ["Calibri", "Georgia"]


def test_hidden_runs_are_dropped_and_counted():
    word = docx.Document()
    paragraph = word.add_paragraph("Seen ")
    paragraph.add_run("by Zyxandra ").font.hidden = True
    paragraph.add_run("today")
    raw = saved(word)
    found = WordFile(raw, NAME)
    assert (found.text, found.hidden) == ("Seen today", 1)
    assert b"Zyxandra" not in b"".join(parts_of(rewrite(raw, NAME, found.text, [])).values())


def test_a_file_that_changed_since_it_was_read_is_refused():
    with pytest.raises(SourceError, match="the document changed after voile read it"):
        rewrite(saved(docx.Document()), NAME, "other", [])


def deep():
    return f"<w:document {SPACE}>".encode() + b"<w:p>" * 100_000


DOCTYPE = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "Qwertzuiop">]><a>&b;</a>'


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda raw: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + raw,
            "the document is encrypted, or in a format older than Word 2007",
        ),
        (lambda raw: packed(raw, **{"word/vbaProject.bin": b"x"}), "the document contains macros"),
        (
            lambda raw: packed(
                raw,
                **{
                    "[Content_Types].xml": parts_of(raw)["[Content_Types].xml"].replace(
                        b"wordprocessingml.document.main", b"word.document.macroEnabled.main"
                    )
                },
            ),
            "the document contains macros",
        ),
        (
            lambda raw: packed(raw, **{"word/document.xml": DOCTYPE}),
            "the document's XML declares a document type",
        ),
        (
            lambda raw: packed(raw, **{"word/styles.xml": DOCTYPE.decode().encode("utf-16")}),
            "the document's XML declares a document type",
        ),
        (
            lambda raw: packed(raw, **{"word/media/a": bytes(300 << 20)}),
            "the document's compressed parts are larger than 256 MiB in total",
        ),
        (
            lambda raw: packed(raw, **{"word/document.xml": deep()}),
            "the .docx file is damaged or truncated",
        ),
        (
            lambda raw: packed(raw, **{"WORD/Document.xml": b""}),
            "the document contains two parts with one name",
        ),
        (
            lambda raw: packed(
                raw,
                **{
                    "word/document.xml": parts_of(raw)["word/document.xml"].replace(
                        b"schemas.openxmlformats.org/wordprocessingml/2006/main",
                        b"x.example/strict",
                    )
                },
            ),
            "the document has Word's strict format",
        ),
        (
            lambda raw: packed(raw, **{"_rels/.rels": b"<a/>"}),
            "the .docx file is damaged or truncated",
        ),
        (lambda raw: b"PK\x03\x04" + raw[4:900], "the .docx file is damaged or truncated"),
    ],
)
def test_hostile_files_are_refused_in_one_sentence(make, said):
    raw = make(saved(docx.Document()))
    with pytest.raises(SourceError, match=f"^{NAME}: {said}") as refused:
        WordFile(raw, NAME)
    assert CANARY not in str(refused.value)
