"""Read the XML of i2b2's de-identification challenges of 2006 and 2014.

Document types are refused, so that there are no entities except those of XML itself. XML converts
every line end to one character. Inside TEXT elements, line ends stay as in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from voile.core.errors import SourceError
from voile.data.text import raw_chunks
from voile.documents.text.document import Document, Span
from voile.documents.text.formats.file import TextFile
from voile.documents.text.formats.quotes import AnnotationError, QuotedSpan, place_quotes

_TEXT = re.compile(r"(<TEXT\b[^>]*>)(.*?)(</TEXT\s*>)", re.DOTALL)
KEEPER = "\ufdd0"
"""The placeholder of a carriage return while XML is parsed: no text contains it, and XML allows
it.
"""
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']""")


def parse(file: TextFile) -> Element:
    if file.encoding is None and (said := _DECLARED.match(next(raw_chunks(file.path), b""))):
        file = replace(file, encoding=said[1].decode())
    text = file.text()
    if "\r" in text:
        if KEEPER in text:
            raise SourceError("holds U+FDD0, which is not a character", where=file.path.name)
        text = _TEXT.sub(lambda part: part[1] + part[2].replace("\r", KEEPER) + part[3], text)
    root = _tree(file, text)
    for element in root.iter():
        element.text = (element.text or "").replace(KEEPER, "\r")
        element.tail = (element.tail or "").replace(KEEPER, "\r")
    return root


def _tree(file: TextFile, text: str) -> Element:
    builder = TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data

    def refuse(*_: object) -> None:
        raise SourceError(
            "declares a document type, which can pull in other files",
            where=file.path.name,
            instead="take its <!DOCTYPE ...> out",
        )

    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise SourceError(
            f"is not well-formed XML at line {error.lineno}, character {error.offset + 1}",
            where=file.path.name,
        ) from None
    return builder.close()


def read_2006(file: TextFile) -> Iterator[Document]:
    """Read each record; the type of a PHI element becomes the label of its span."""
    records = list(parse(file).iter("RECORD"))
    if not records:
        raise SourceError("holds no RECORD element", where=file.path.name)
    for number, record in enumerate(records, 1):
        id = file.make_id(record.get("ID") or number)
        element = record.find("TEXT")
        if element is None:
            raise SourceError("holds no TEXT element", where=f"document {id}")
        text, spans = _inline(element, id)
        yield file.document(text, spans, id=id)


def _inline(element: Element, id: str) -> tuple[str, list[Span]]:
    parts = [element.text or ""]
    at = len(parts[0])
    spans = []
    for phi in element:
        label, words = phi.get("TYPE"), phi.text or ""
        if phi.tag != "PHI" or not label or len(phi):
            raise SourceError(
                f"the element at {at} is not a PHI element with a TYPE and text alone",
                where=f"document {id}",
            )
        spans.append(Span(at, at + len(words), label))
        parts += [words, phi.tail or ""]
        at += len(words) + len(parts[-1])
    return "".join(parts), spans


PLACE = re.compile(r"\d{1,18}")
PATIENT = re.compile(r"(\d+)-\d+")


def read_2014(file: TextFile) -> Iterator[Document]:
    """Read one record; the TYPE of a tag becomes its label.

    A record without TAGS has no spans.
    """
    root = parse(file)
    text, tags = root.find("TEXT"), root.find("TAGS")
    where = f"document {file.name}"
    if text is None:
        raise SourceError("holds no TEXT element", where=where)
    content = "".join(text.itertext())
    listed = [] if tags is None else list(tags)
    quotes = [_quote(tag, number, where) for number, tag in enumerate(listed, 1)]
    patient = PATIENT.fullmatch(PurePosixPath(file.name).name)
    yield file.document(
        content,
        place_quotes(content, quotes, where, returns=False),
        id=file.name,
        subject=patient[1] if patient else None,
    )


def _quote(tag: Element, number: int, where: str) -> QuotedSpan:
    start, end = tag.get("start", ""), tag.get("end", "")
    if not (PLACE.fullmatch(start) and PLACE.fullmatch(end)):
        raise AnnotationError(f"tag {number} has no start and end", where=where)
    return QuotedSpan(((int(start), int(end)),), tag.get("TYPE") or tag.tag, tag.get("text"))
