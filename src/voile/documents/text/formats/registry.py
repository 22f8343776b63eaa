"""Register the formats of single files. A reader takes a `TextFile` and yields its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from voile.documents.text.document import Document
from voile.documents.text.formats import brat, conll, fhir, html, i2b2, json, mail, office, tables
from voile.documents.text.formats.file import TextFile, UnreadPart


@dataclass(frozen=True)
class TextFormat:
    read: Callable[[TextFile], Iterator[Document | UnreadPart]]
    holds: str  # a description for people
    # the suffixes of the files to read from a folder; .gz may follow a text suffix
    suffixes: tuple[str, ...]
    single: bool = False  # whether a file contains one document, which has the file's name
    subject: bool = False  # whether the user can name the field or column of the subject
    text: bool = True  # whether the user can set a file's encoding
    # whether the format has no annotations, so that a folder may mix it with others
    plain: bool = False


def _read_table(file: TextFile) -> Iterator[Document]:
    return tables.read_table(file.path, file.encoding, file.subject)


_JSON = (".jsonl", ".ndjson", ".json")
_CONLL = (".conll", ".bio", ".iob", ".txt", ".tsv")
_HTML = (".html", ".htm", ".xhtml")

SINGLE_FORMATS: Mapping[str, TextFormat] = {
    "jsonl": TextFormat(
        json.read_jsonl, "JSON lines: text, spans, id, subject", _JSON, subject=True
    ),
    "presidio": TextFormat(json.read_presidio, "JSON of presidio-research", _JSON, subject=True),
    "doccano": TextFormat(json.read_doccano, "JSON lines of doccano", _JSON, subject=True),
    "conll": TextFormat(conll.read_documents, "columns; documents by -DOCSTART-", _CONLL),
    "conll-sentences": TextFormat(conll.read_sentences, "columns; each block a document", _CONLL),
    "conll-header": TextFormat(
        conll.read_with_header, "columns with names", (".tsv",), subject=True
    ),
    "brat": TextFormat(brat.read_pair, ".txt with .ann next to it", (".txt",), single=True),
    "i2b2-2006": TextFormat(i2b2.read_2006, "XML with PHI elements in the text", (".xml",)),
    "i2b2-2014": TextFormat(i2b2.read_2014, "XML with TEXT and TAGS", (".xml",), single=True),
    "txt": TextFormat(office.read_plain, "plain text", (".txt",), single=True, plain=True),
    "docx": TextFormat(office.read_docx, "Word", (".docx",), single=True, text=False, plain=True),
    "pdf": TextFormat(office.read_pdf, "PDF", (".pdf",), single=True, text=False, plain=True),
    "eml": TextFormat(mail.read_mail, "e-mail", (".eml",), single=True, text=False, plain=True),
    "html": TextFormat(html.read_html, "HTML", _HTML, single=True, plain=True),
    "fhir": TextFormat(fhir.read_fhir, "FHIR's DocumentReference", _JSON, text=False, plain=True),
    "table": TextFormat(_read_table, "a table with a column text", (), subject=True),
}
"""The formats of one kind of file, by name; `formats.FORMATS` contains all formats."""
