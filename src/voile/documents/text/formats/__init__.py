"""Formats of annotated text, a module a family; a reader takes a `File`, yields its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from pathlib import Path

from voile.core.errors import RequestError, nearest
from voile.documents.text.document import Document
from voile.documents.text.formats.file import File, report_unreadable, stem, suffix

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

    def read(self, file: File) -> Iterator[Document]:
        module, name = self.reader.split(":")
        documents: Iterator[Document] = getattr(import_module(f"{__name__}.{module}"), name)(file)
        return documents


_JSON = (".jsonl", ".ndjson", ".json")
_CONLL = (".conll", ".bio", ".iob", ".txt", ".tsv")

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
    "txt": Format("office:read_plain", "plain text", (".txt",), single=True),
    "docx": Format("office:read_docx", "Word", (".docx",), single=True, text=False),
    "pdf": Format("office:read_pdf", "PDF", (".pdf",), single=True, text=False),
    "table": Format("tables:read_table", "a table with a column text", (), subject=True),
}
"""The formats by their names."""


def read_documents(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    encoding: str | None = None,
    subject: str | None = None,
    aside: Aside | None = None,
) -> Iterator[Document]:
    """Stream the documents that `Corpus.read` reads; memory follows one of them, or one file.

    Where a file is a document, `aside` takes the name of each that cannot be read, and why, and the
    others are still read. Without it, and in the other formats, the first error ends it.
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
        try:
            with report_unreadable(file.path):
                yield from known.read(file)
        except RequestError as error:
            if aside is None or not known.single:
                raise
            aside(file.name, error)


def _files(path: Path, known: Format, encoding: str | None, subject: str | None) -> Iterator[File]:
    from voile.documents.text.formats.recognition import list_files

    folder = path.is_dir()
    found = [one for one in list_files(path) if not folder or suffix(one) in known.suffixes]
    if not found:
        ends = " or ".join(known.suffixes)
        raise RequestError(f"holds no {ends or 'file of this format'}", where=str(path))
    for one in found:
        name = stem(one.relative_to(path) if folder else Path(one.name))
        yield File(one, name, len(found) > 1, encoding, subject)
