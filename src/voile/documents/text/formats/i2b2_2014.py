"""The XML of i2b2's de-identification challenge of 2014: a TEXT, and TAGS with start and end.

A file is a document; of NNN-NN.xml the first number is the patient.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

from voile.core.errors import SourceError
from voile.documents.text.document import Document
from voile.documents.text.formats.file import File
from voile.documents.text.formats.markup import parse
from voile.documents.text.formats.quotes import AnnotationError, Quote, placed

PLACE = re.compile(r"\d{1,18}")
PATIENT = re.compile(r"(\d+)-\d+")


def read(file: File) -> Iterator[Document]:
    """Read one record; a tag's TYPE is its label. Without TAGS it is not annotated."""
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
        placed(content, quotes, where, returns=False),
        id=file.name,
        subject=patient[1] if patient else None,
    )


def _quote(tag: Element, number: int, where: str) -> Quote:
    start, end = tag.get("start", ""), tag.get("end", "")
    if not (PLACE.fullmatch(start) and PLACE.fullmatch(end)):
        raise AnnotationError(f"tag {number} has no start and end", where=where)
    return Quote(((int(start), int(end)),), tag.get("TYPE") or tag.tag, tag.get("text"))
