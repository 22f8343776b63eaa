"""Sources of text: a corpus of any format as rows, or an unchanged table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from voile import data
from voile.core.errors import RequestError, SourceError
from voile.core.warn import warn
from voile.data.formats.part_files import is_partitioned
from voile.data.opening import FORMATS as TABLES
from voile.data.opening import check_address
from voile.data.source import Source, hash_file
from voile.data.stores.path import StorePath
from voile.data.text import DecodingError
from voile.documents.text.document import Document
from voile.documents.text.files_source import FilesSource
from voile.documents.text.formats import FORMATS, format_files, named_files, read_documents
from voile.documents.text.formats.brat import find_beside
from voile.documents.text.formats.file import UnreadWarning, check_file, suffix
from voile.documents.text.formats.quotes import AnnotationError
from voile.documents.text.formats.recognition import JSON, is_fhir_lines, list_files, recognise
from voile.documents.text.formats.subjects import SubjectPattern

TABLE = "table"
BY_NAME = (
    ".conll", ".bio", ".iob", ".ann", ".xml", ".json", ".docx", ".pdf", ".eml", ".html", ".htm",
    ".xhtml",
)  # fmt: skip
"""Suffixes of files that are always corpora."""
BY_CONTENT = (".txt", ".tsv")
BATCH_CHARACTERS = 16 << 20
UNREAD = "\N{REPLACEMENT CHARACTER}"
"""The text of a document that could not be read.

No kind of data processes it, so it is rejected.
"""


def open_source(thing: object, *, table: str | None = None, encoding: str | None = None) -> Source:
    """Open a corpus as a `CorpusSource`, and any other input with `voile.data.open_source`.

    Text of CSV or JSON lines that cannot be decoded contains U+FFFD, with a warning. No verb
    processes such a text. A corpus file that cannot be read becomes such a text.

    Parameters
    ----------
    thing : any input of `voile.data.open_source`, or documents. Documents are a folder, file or
        pattern of CoNLL columns, brat, i2b2's XML, JSON or FHIR. They may also be .txt, .docx,
        .pdf, .eml or HTML files, or a mix of the unannotated formats. A prefix sets the format:
        "brat:notes", "conll-sentences:tweets.txt", "presidio:synthetic.jsonl".
    table : the table of a database.
    encoding : the encoding of text that is not UTF-8.

    Raises
    ------
    RequestError : the file, table or format does not exist, or a folder contains several formats.
    SourceError : a file is empty, damaged, or not text.
    """
    if not isinstance(thing, str | os.PathLike):
        return data.open_source(thing, table=table, encoding=encoding)
    if StorePath.parse(thing) is not None:
        return _open_table(os.fspath(thing), table, encoding)
    path, format = split_format(thing)
    check_address(path)
    if format is None and _may_be_corpus(thing):
        format = recognise(path, encoding, mixed=True)
    elif format is None and is_fhir_lines(Path(path)):
        format = "fhir"
    if format is None or format == TABLE:
        return _open_table(path, table, encoding)
    if table is not None:
        raise RequestError(f"the format {format} has no table to choose", where=path)
    return CorpusSource(Path(path), format, encoding)


def _open_table(path: str, table: str | None, encoding: str | None) -> Source:
    """Open a table. If some texts cannot be decoded, open it again with replacement characters."""
    try:
        return data.open_source(path, table=table, encoding=encoding)
    except DecodingError as error:
        source = data.open_source(path, table=table, encoding=encoding, errors="replace")
        remedy = "" if error.instead is None else "; if all of it is none, say its --encoding"
        said = f"{error.where}: {error.what}; rows that are not text are rejected{remedy}"
        warn(said, UnreadWarning)
        return source


def is_corpus(thing: str | os.PathLike[str]) -> bool:
    """Return whether a name always denotes a corpus: a folder, *.conll, brat:*."""
    path, format = split_format(thing)
    if format is not None:
        return format != TABLE
    folder = Path(path).is_dir() and not is_partitioned(Path(path))
    return folder or suffix(Path(path)) in BY_NAME


def is_mostly_tables(thing: str | os.PathLike[str]) -> bool:
    """Return whether at least half of the files in a folder are tables by their names."""
    folder = Path(thing)
    ends = [suffix(one) for one in list_files(folder)] if folder.is_dir() else []
    tables = TABLES.keys() - {*BY_CONTENT, *JSON}
    return bool(ends) and 2 * sum(end in tables for end in ends) >= len(ends)


def split_format(thing: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Split "format:path" into the path and the format.

    The format is None without a known prefix.
    """
    format, mark, path = os.fspath(thing).partition(":")
    return (path, format) if mark and format in FORMATS else (os.fspath(thing), None)


def _may_be_corpus(thing: str | os.PathLike[str]) -> bool:
    return is_corpus(thing) or suffix(Path(thing)) in BY_CONTENT


class CorpusSource(FilesSource):
    """A source with one row for each document: id, subject, text, spans and pos.

    The columns are the same for every format. Spans and pos are JSON text, or null if there are
    none. A file that cannot be read becomes a row with the text `UNREAD`, and `unread` maps its id
    to the reason. Wrong spans are refused. Memory: one batch.
    """

    def __init__(
        self,
        path: Path,
        format: str,
        encoding: str | None = None,
        pattern: SubjectPattern | None = None,
    ) -> None:
        fields = [pa.field(name, pa.string()) for name in _CELLS]
        super().__init__(path.absolute().name, format, fields, [f"read as {format}"])
        self.path = path
        self._encoding = encoding
        self._pattern = pattern
        self._warned = False
        self.unread: dict[str, str] = {}

    def with_subjects(self, written: str) -> CorpusSource:
        pattern = SubjectPattern(written)
        files = format_files(self.path, FORMATS[self.kind])
        others = sum(pattern.subject_of(one, self.path) is None for one in files)
        if others == len(files):
            raise RequestError(
                f"the pattern of subjects fits none of {len(files):,} files",
                where=self.name,
                instead="write their names with {subject}, * and ?, e.g. {subject}_*.txt",
            )
        if others:
            said = f"the pattern of subjects does not fit {others:,} of {len(files):,} files"
            warn(f"{self.name}: {said}: each is a person's own", UnreadWarning)
        return CorpusSource(self.path, self.kind, self._encoding, pattern)

    def _read_batches(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        batch: list[Document] = []
        size = 0
        for document in self._documents():
            batch.append(document)
            size += len(document.text)
            if len(batch) == rows or size >= BATCH_CHARACTERS:
                yield self._rows(batch, columns)
                batch, size = [], 0
        if batch:
            yield self._rows(batch, columns)

    def _rows(self, documents: list[Document], columns: list[str]) -> pa.RecordBatch:
        arrays = [pa.array(map(_CELLS[name], documents), pa.string()) for name in columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema(columns))

    def _documents(self) -> Iterator[Document]:
        unread: list[Document] = []
        count = 0

        def aside(name: str, why: RequestError) -> None:
            """Add a row for a file that cannot be read, and refuse wrong annotations.

            The file name may contain a person's name, so the warning contains a position instead.
            """
            if not isinstance(why, SourceError) or isinstance(why, AnnotationError):
                raise why
            if not self._warned:
                place = f"document {count + len(unread) + 1}, by name"
                said = f"{why.what}; set aside, and so is each that cannot be read"
                warn(f"{self.name}: {place}: {said}", UnreadWarning)
                self._warned = True
            self.unread[name] = why.what
            unread.append(Document(UNREAD, id=name, annotated=False))

        for document in read_documents(
            self.path, self.kind, encoding=self._encoding, pattern=self._pattern, aside=aside
        ):
            yield from unread
            count += len(unread) + 1
            unread.clear()
            yield document
        if not count and not unread:
            raise SourceError("holds no document", where=self.name)
        yield from unread

    @cached_property
    def paths(self) -> Mapping[str, Path]:
        return {one.name: one.path for one in named_files(self.path, FORMATS[self.kind])}

    def fingerprint(self) -> str:
        """Return a hash of the files' own hashes, ordered by name."""
        return sha256("".join(map(hash_file, self._files())).encode()).hexdigest()

    def _files(self) -> list[Path]:
        files = [one for one in format_files(self.path, FORMATS[self.kind]) if self._is_read(one)]
        if self.kind != "brat":
            return files
        pairs = (find_beside(one, end) for one in files for end in (".txt", ".ann"))
        return sorted({one for one in pairs if one is not None})

    def _is_read(self, file: Path) -> bool:
        try:
            check_file(file, self.path)
        except SourceError:
            return False
        return file.is_file()


def _spans(document: Document) -> str | None:
    if not document.annotated:
        return None
    spans = [{"start": s.start, "end": s.end, "label": s.label} for s in document.spans]
    return _json(spans)


def _pos(document: Document) -> str | None:
    words = [{"start": start, "end": end, "tag": tag} for start, end, tag in document.pos]
    return _json(words) if words else None


def _json(value: list[dict[str, Any]]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_CELLS: Mapping[str, Callable[[Document], str | None]] = {
    "id": lambda document: document.id,
    "subject": lambda document: document.subject,
    "text": lambda document: document.text,
    "spans": _spans,
    "pos": _pos,
}
