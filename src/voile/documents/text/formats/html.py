"""Read HTML: one document for each page, with the text that a reader sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from voile.data.html_text import extract_html_text
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile

_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


def read_html(file: TextFile) -> Iterator[Document]:
    """Read one page as one document.

    The encoding is that of the file if given, or else the declared one.
    """
    if file.encoding is None and (said := _DECLARED.search(file.content()[:4096])):
        file = file.in_encoding(said[1].decode())
    yield file.document(extract_html_text(file.text()), id=file.name, annotated=False)
