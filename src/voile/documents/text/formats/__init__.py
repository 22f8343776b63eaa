"""Formats of text, a module a family: a reader takes a `File` and yields what is in it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from pathlib import Path

from voile.core.errors import RequestError, SourceError, nearest
from voile.documents.text.document import Document
from voile.documents.text.formats.file import (
    File,
    Unread,
    UnreadWarning,
    check_file,
    report_unreadable,
    stem,
    suffix,
)
from voile.documents.text.formats.subjects import SubjectPattern

__all__ = ["FORMATS", "Format", "read_documents"]


Aside = Callable[[str, RequestError], None]


@dataclass(frozen=True)
class Format:
    reader: str  # "module:function" below voile.documents.text.formats, imported when first used
    holds: str  # what it is, for people
    # of the files that are taken from a folder; .gz may follow where it is text
    suffixes: tuple[str, ...]
    single: bool = False  # whether a file holds one document, which it names
    subject: bool = False  # whether the field or column of the subject can be named
    text: bool = True  # whether a file's encoding can be stated
    plain: bool = False  # whether nobody annotated it, so that a folder may mix it with others

    def read(self, file: File) -> Iterator[Document | Unread]:
        module, name = self.reader.split(":")
        reader = getattr(import_module(f"{__name__}.{module}"), name)
        found: Iterator[Document | Unread] = reader(file)
        return found


_JSON = (".jsonl", ".ndjson", ".json")
_CONLL = (".conll", ".bio", ".iob", ".txt", ".tsv")
_HTML = (".html", ".htm", ".xhtml")

FORMATS: Mapping[str, Format] = {
    "jsonl": Format("json:read_jsonl", "JSON lines: text, spans, id, subject", _JSON, subject=True),
    "presidio": Format("json:read_presidio", "JSON of presidio-research", _JSON, subject=True),
    "doccano": Format("json:read_doccano", "JSON lines of doccano", _JSON, subject=True),
    "conll": Format("conll:read", "columns; documents by -DOCSTART-", _CONLL),
    "conll-sentences": Format("conll:read_sentences", "columns; each block a document", _CONLL),
    "conll-header": Format("conll:read_with_header", "columns with names", (".tsv",), subject=True),
    "brat": Format("brat:read", ".txt with .ann beside it", (".txt",), single=True),
    "i2b2-2006": Format("i2b2:read_2006", "XML with PHI elements in the text", (".xml",)),
    "i2b2-2014": Format("i2b2:read_2014", "XML with TEXT and TAGS", (".xml",), single=True),
    "txt": Format("office:read_plain", "plain text", (".txt",), single=True, plain=True),
    "docx": Format("office:read_docx", "Word", (".docx",), single=True, text=False, plain=True),
    "pdf": Format("office:read_pdf", "PDF", (".pdf",), single=True, text=False, plain=True),
    "eml": Format("mail:read_mail", "e-mail", (".eml",), single=True, text=False, plain=True),
    "html": Format("html:read_html", "HTML", _HTML, single=True, plain=True),
    "fhir": Format("fhir:read_fhir", "FHIR's DocumentReference", _JSON, text=False, plain=True),
    "files": Format("mixed:read_each", "files of any of these formats", (), single=True),
    "table": Format("tables:read_table", "a table with a column text", (), subject=True),
}
"""The formats by their names."""


def read_documents(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    encoding: str | None = None,
    subject: str | None = None,
    pattern: SubjectPattern | None = None,
    aside: Aside | None = None,
) -> Iterator[Document]:
    """Stream the documents that `Corpus.read` reads; memory follows one of them, or one file.

    Where a file is a document, `aside` takes the name of each that cannot be read, and why, and the
    others are still read; and of each part of a file that is not read. Without it, and in the other
    formats, the first error ends it, and of parts is warned. With it, links are not followed out of
    a folder.

    pattern : says whom documents are about by the names of their files.
    """
    from voile.documents.text.formats.recognition import recognise

    name = recognise(path, encoding) if format is None else format
    if name not in FORMATS:
        raise RequestError(f"there is no format {name}", instead=nearest(name, FORMATS))
    known = FORMATS[name]
    for asked, given, allowed in (
        ("encoding", encoding, known.text),
        ("subject", subject, known.subject),
    ):
        if given is not None and not allowed:
            raise RequestError(f"the format {name} has no {asked} to choose", where=str(path))
    if name == "table":
        from voile.documents.text.formats.tables import read_table

        yield from read_table(path, encoding, subject)
        return
    for file in _files(Path(path), known, encoding, subject):
        whose = None if pattern is None else pattern.subject_of(file.path, Path(path))
        try:
            with report_unreadable(file.path):
                check_file(file.path, None if aside is None else Path(path))
                for one in known.read(file):
                    if isinstance(one, Unread):
                        (aside or _warn)(one.name, SourceError(one.why, where=file.path.name))
                    else:
                        yield one if whose is None else replace(one, subject=whose)
        except RequestError as error:
            if aside is None or not known.single:
                raise
            aside(file.name, error)


def _warn(name: str, why: RequestError) -> None:
    warnings.warn(f"{why}; left out", UnreadWarning, stacklevel=3)


def _files(path: Path, known: Format, encoding: str | None, subject: str | None) -> Iterator[File]:
    found = format_files(path, known)
    if not found:
        ends = " or ".join(known.suffixes)
        raise RequestError(f"holds no {ends or 'file of this format'}", where=str(path))
    folder = path.is_dir()
    for one in found:
        relative = one.relative_to(path) if folder else Path(one.name)
        name = stem(relative) if known.suffixes else relative.as_posix()
        yield File(one, name, len(found) > 1, encoding, subject)


def format_files(path: Path, known: Format) -> list[Path]:
    """Return the files that a format takes of a folder; of a pattern or a file, all."""
    from voile.documents.text.formats.recognition import list_files

    every = not path.is_dir() or not known.suffixes
    return [one for one in list_files(path) if every or suffix(one) in known.suffixes]
