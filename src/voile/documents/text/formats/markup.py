"""XML, read without what makes it dangerous: no document types, so no entities but XML's own.

XML takes every line end for one character; inside TEXT elements they stay as they are in the file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from voile.core.errors import SourceError
from voile.data.text import raw_chunks
from voile.documents.text.formats.file import File

_TEXT = re.compile(r"(<TEXT\b[^>]*>)(.*?)(</TEXT\s*>)", re.DOTALL)
KEEPER = "\ufdd0"
"""Stands for a return while XML is read: no text has it, and XML lets it pass."""
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]+)["']""")


def parse(file: File) -> Element:
    """Parse a file and return its root."""
    if file.encoding is None and (said := _DECLARED.match(next(raw_chunks(file.path), b""))):
        file = replace(file, encoding=said[1].decode())
    text = file.text()
    if "\r" in text:
        if KEEPER in text:
            raise SourceError("holds U+FDD0, which is no character", where=file.path.name)
        text = _TEXT.sub(lambda part: part[1] + part[2].replace("\r", KEEPER) + part[3], text)
    root = _tree(file, text)
    for element in root.iter():
        element.text = (element.text or "").replace(KEEPER, "\r")
        element.tail = (element.tail or "").replace(KEEPER, "\r")
    return root


def _tree(file: File, text: str) -> Element:
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
            f"is no well-formed XML at line {error.lineno}, character {error.offset + 1}",
            where=file.path.name,
        ) from None
    return builder.close()
