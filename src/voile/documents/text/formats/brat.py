"""Read brat's standoff files: NAME.txt, with NAME.ann next to it.

Offsets count the characters of the text. Each piece of a discontinuous annotation becomes a span,
without the text between the pieces. Relations, events, attributes and notes are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from voile.core.errors import SourceError
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile
from voile.documents.text.formats.quotes import AnnotationError, QuotedSpan, place_quotes

ENTITY = re.compile(r"T\S*\t(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)(?:\t(.*))?")
OTHER = re.compile(r"[REAMN#*]")


def read_pair(file: TextFile) -> Iterator[Document]:
    """Read one brat document, given the path of its `.txt` or of its `.ann` file."""
    text, notes = find_beside(file.path, ".txt"), find_beside(file.path, ".ann")
    for path, end in ((text, ".txt"), (notes, ".ann")):
        if path is None:
            raise SourceError(f"has no {end} file next to it", where=file.path.name)
    assert text is not None
    assert notes is not None
    source = replace(file, path=text)
    content = source.text()
    quotes = list(_entities(replace(file, path=notes)))
    spans = place_quotes(content, quotes, f"document {file.name}", marked=source.has_mark())
    yield file.document(content, spans, id=file.name)


def find_beside(path: Path, end: str) -> Path | None:
    """Find the file of a brat pair with the given suffix, compressed or not.

    The result is `path` itself if it already has this suffix.
    """
    name = re.sub(r"\.(txt|ann)(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    ends = (end, f"{end}.gz", end.upper())
    return next((other for x in ends if (other := path.with_name(name + x)).is_file()), None)


def _entities(file: TextFile) -> Iterator[QuotedSpan]:
    for number, raw in file.lines():
        line = raw.decode().rstrip("\r\n")
        if not line.strip() or OTHER.match(line):
            continue
        entity = ENTITY.fullmatch(line)
        if entity is None:
            raise AnnotationError(f"line {number} is not an annotation", where=file.path.name)
        label, places, words = entity.groups()
        pairs = (piece.split(" ") for piece in places.split(";"))
        yield QuotedSpan(tuple((int(start), int(end)) for start, end in pairs), label, words)
