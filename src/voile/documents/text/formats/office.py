"""Plain text, and the text of Word and PDF files by python-docx and pypdf (the extra `office`).

A .docx is read whole: headers, body with tables and text boxes, notes, comments and footers, a
paragraph a line; what tracked changes deleted is left. A .pdf gives its pages' text as pypdf finds
it: where it stands on the page is lost, and a scanned page has none.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from voile.core.errors import RequestError, SourceError, VoileError, install
from voile.documents.text.document import Document
from voile.documents.text.formats.file import File

if TYPE_CHECKING:
    from docx.document import Document as Word


PARTS = ("header", "document", "footnotes", "endnotes", "comments", "footer")
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
MARKS = {WORD + "tab": "\t", WORD + "br": "\n", WORD + "cr": "\n", WORD + "noBreakHyphen": "-"}


def read_docx(file: File) -> Iterator[Document]:
    with _reading(file, "python-docx"):
        import docx

        text = "\n".join(_paragraphs(docx.Document(str(file.path))))
    yield file.document(text, id=file.name, annotated=False)


def read_pdf(file: File) -> Iterator[Document]:
    """Read one PDF document; one without any text is refused, since it was scanned."""
    with _reading(file, "pypdf"):
        import pypdf

        reader = pypdf.PdfReader(file.path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise SourceError(
                "is encrypted", where=file.path.name, instead="save it without a password"
            )
        text = "\n".join(page.extract_text() for page in reader.pages)
    if not text.strip():
        raise SourceError(
            "holds no text",
            where=file.path.name,
            instead="let a scanned document's characters be recognised first",
        )
    yield file.document(text, id=file.name, annotated=False)


def _paragraphs(word: Word) -> Iterator[str]:
    from docx.oxml import parse_xml

    parts = {str(part.partname): part for part in word.part.package.iter_parts()}
    for kind in PARTS:
        for name in sorted(parts):
            if re.fullmatch(rf"/word/{kind}\d*\.xml", name):
                for paragraph in parse_xml(parts[name].blob).iter(WORD + "p"):
                    # A text box stands there twice, the second time for older programs.
                    if next(paragraph.iterancestors(FALLBACK), None) is None:
                        yield "".join(_words(paragraph))


def _words(paragraph: Any) -> Iterator[str]:
    """Yield a paragraph's own words, without those of paragraphs inside it."""
    for node in paragraph.iter(WORD + "t", *MARKS):
        run = node.getparent()
        if run.tag == WORD + "r" and next(node.iterancestors(WORD + "p")) is paragraph:
            yield MARKS.get(node.tag) or node.text or ""


@contextmanager
def _reading(file: File, library: str) -> Iterator[None]:
    """Turn the libraries' errors and warnings, which may quote the file, into one sentence."""
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    except VoileError:
        raise
    except ModuleNotFoundError:
        raise RequestError(
            f"{library} is not installed",
            where=file.path.name,
            instead=install("office"),
        ) from None
    except Exception:
        raise SourceError(
            f"is no whole {file.path.suffix[1:].lower()} file: damaged or cut short",
            where=file.path.name,
        ) from None
    finally:
        logger.setLevel(level)


def read_plain(file: File) -> Iterator[Document]:
    """Read a plain text as one document, without spans."""
    yield file.document(file.text(), id=file.name, annotated=False)
