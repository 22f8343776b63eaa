"""Read plain text, Word files with python-docx, and PDF files with pypdf (the extra `office`).

The module `voile.data.formats.word` reads .docx files. A .pdf file gives the text of its pages as
pypdf finds it. The positions on the page are lost, and a scanned page has no text.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from voile.core.errors import RequestError, SourceError, VoileError, install
from voile.core.warn import warn
from voile.data.formats.word import WordFile
from voile.documents.text.document import Document
from voile.documents.text.formats.file import TextFile


class HiddenWarning(UserWarning):
    """A Word file has hidden text, which is not released. Check the original."""


def read_docx(file: TextFile) -> Iterator[Document]:
    word = WordFile(file.content(), file.path.name)
    if word.hidden:
        warn(
            f"{file.path.name}: {word.hidden:,} hidden runs of text are dropped; show them in Word "
            "to keep them",
            HiddenWarning,
        )
    yield file.document(word.text, id=file.name, annotated=False)


def read_pdf(file: TextFile) -> Iterator[Document]:
    """Read one PDF document. A document without any text is refused, since it was scanned."""
    with _reading(file):
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


@contextmanager
def _reading(file: TextFile) -> Iterator[None]:
    """Convert the errors of pypdf to one sentence, and silence its warnings.

    Both may quote the file.
    """
    logger = logging.getLogger("pypdf")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    except VoileError:
        raise
    except ModuleNotFoundError:
        raise RequestError(
            "pypdf is not installed",
            where=file.path.name,
            instead=install("office"),
        ) from None
    except Exception:
        raise SourceError(
            "is not a whole pdf file: damaged or cut short",
            where=file.path.name,
        ) from None
    finally:
        logger.setLevel(level)


def read_plain(file: TextFile) -> Iterator[Document]:
    """Read a plain text file as one document without annotations."""
    yield file.document(file.text(), id=file.name, annotated=False)
