"""The XML of i2b2's de-identification challenge of 2006: RECORDs whose TEXT has PHI elements in it.

Patients are not told apart there: every record is a subject of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from voile.core.errors import SourceError
from voile.documents.text.document import Document, Span
from voile.documents.text.formats.file import File
from voile.documents.text.formats.markup import parse


def read(file: File) -> Iterator[Document]:
    """Read each record; the type of a PHI element is its label."""
    records = list(parse(file).iter("RECORD"))
    if not records:
        raise SourceError("holds no RECORD element", where=file.path.name)
    for number, record in enumerate(records, 1):
        id = file.called(record.get("ID") or number)
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
                f"the element at {at} is no PHI element with a TYPE and text alone",
                where=f"document {id}",
            )
        spans.append(Span(at, at + len(words), label))
        parts += [words, phi.tail or ""]
        at += len(words) + len(parts[-1])
    return "".join(parts), spans
