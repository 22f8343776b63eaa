"""Write a release as files: the file of each document in a folder, and its contents."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from voile.core.errors import RequestError, SourceError
from voile.data import Source
from voile.data.files.memory import AnyPath
from voile.data.formats.folders import FILE, SPANS, TEXT, FolderWriter, encode_spans, is_file_name
from voile.data.formats.word_writing import TextChange, rewrite
from voile.data.roles import Roles
from voile.data.writer import BatchWriter
from voile.data.writing.writers import WRITERS
from voile.documents.options import ApplyOptions
from voile.documents.replacements.published import PublishedDocument
from voile.documents.text.document import Document
from voile.documents.text.files_source import FilesSource
from voile.documents.text.reader import KEPT
from voile.documents.verbs.removals import FILES, NAMED

TXT, BRAT, WORD = "txt", "brat", "docx"


PATH = "path of the original"


NO_TEXT = "no text of which a file could be made"


NO_NAME = "no file can be called so"


TOLD = "removed text is in the name of its file"


NO_WORD = "is not a Word file, to be written again"


LEAST = 3  # the fewest letters of a removed word to search for in a name


class DocumentCells(NamedTuple):
    """The contents of a document's files, and their name."""

    file: str | None
    text: str | bytes
    spans: str | None

    @classmethod
    def of(
        cls,
        kind: str,
        name: str | None,
        source: Document,
        one: PublishedDocument,
        path: str | os.PathLike[str] | None,
    ) -> DocumentCells:
        """Return the contents for one document.

        path : the path of the original, from which a Word file is rewritten.

        Raises
        ------
        SourceError : the original is not a Word file, or cannot be rewritten.
        """
        if kind == WORD:
            return cls(name, _rewritten(path, source, one), None)
        spans = [{"start": e.start, "end": e.end, "label": _type(one, e)} for e in one.edits]
        return cls(name, one.text, encode_spans(spans) if kind == BRAT else None)


@dataclass(frozen=True)
class DocumentFiles:
    """The form of documents as files: txt, brat or docx, named by a column or a number."""

    kind: str
    text: str  # the text column
    names: str | None

    @classmethod
    def of(cls, options: ApplyOptions, roles: Roles, source: Source) -> DocumentFiles | None:
        """Return the form of the files; None if a table is written.

        Raises
        ------
        RequestError : a file cannot contain all released data, or its source is missing.
        """
        if options.files is None:
            return None
        texts, names = roles.of("text"), options.file_names
        if kept := {*roles.of(*KEPT)} - {names, roles.subject}:
            raise RequestError(
                f"files have no columns next to the text, and {min(kept)} is kept",
                instead="give --text with the text alone, or write a table",
            )
        if len(texts) > 1:
            raise RequestError(
                "a file has one text of a row, and there are columns " + ", ".join(texts),
                instead="name one with --text, or write a table",
            )
        if options.files == WORD and not isinstance(source, FilesSource):
            raise RequestError(
                "Word files are written from Word files alone",
                where=source.name,
                instead="apply to a folder of .docx, or write --files txt",
            )
        if options.files == BRAT and options.replace == "surrogate":
            raise RequestError(
                "annotations would say which names are made up",
                instead="write --files txt, or leave --replace surrogate out",
            )
        return cls(options.files, texts[0], names)

    def roles(self, roles: Roles) -> Roles:
        """Return the roles with the column of file names kept, which must not be an identifier."""
        if self.names is None:
            return roles
        column = roles.columns.get(self.names)
        if self.names == roles.subject or (column and column.role == "identifier"):
            raise RequestError(
                "is an identifier, which never leaves",
                where=f"column {self.names}",
                instead="name files by another column, or leave --file-names out",
            )
        return roles.corrected({self.names: "keep"})

    @property
    def schema(self) -> pa.Schema:
        return schema_of(self.kind)

    @property
    def columns(self) -> list[str]:
        """The columns of the source to read."""
        return [self.text, *([self.names] if self.names else [])]

    @property
    def beside(self) -> Mapping[str, pa.Schema]:
        return {FILES: NAMED} if self.names else {}

    def describe_columns(self, what: str) -> list[dict[str, str]]:
        """Describe the columns for the manifest."""
        called = f"a column of the source, {self.names}" if self.names else "a number"
        made = {
            FILE: {"from": self.names or "", "role": "keep", "what": f"name of the file: {called}"},
            TEXT: {"from": self.text, "role": "text", "what": what},
            SPANS: {"from": "", "role": "label", "what": "marks and their types, of brat"},
        }
        return [{"column": name, **made[name]} for name in self.schema.names]

    def open(self, out: str | AnyPath, *, escape: bool) -> BatchWriter:
        """Return the writer of the folder."""
        if not isinstance(out, Path) or escape:
            raise RequestError(
                "files are written into a folder, and without --formulas",
                instead="give out" if escape else "leave formulas out",
            )
        if out.suffix.lower() in WRITERS:
            raise RequestError(
                f"is called as a table, and --files {self.kind} writes a folder",
                where=out.name,
                instead="leave the end of its name out",
            )
        return FolderWriter(out, self.schema)

    def make(
        self, rows: pa.RecordBatch, place: int, source: Document, one: PublishedDocument
    ) -> DocumentCells | str:
        """Return the contents of a document's files, or the reason why there are none."""
        if not rows.column(self.text)[place].is_valid:
            return NO_TEXT
        name = None
        if self.names is not None:
            given = rows.column(self.names)[place].as_py()
            name = "" if given is None else str(given)
            if not is_file_name(name):
                return NO_NAME
            if _tells(name, source, one):
                return TOLD
        path = rows.column(PATH)[place].as_py() if self.kind == WORD else None
        try:
            return DocumentCells.of(self.kind, name, source, one, path)
        except SourceError as error:
            return error.what

    def arrays(self, cells: Sequence[DocumentCells | str | None]) -> list[pa.Array]:
        """Return the columns of rows; null for those without cells."""
        return [
            pa.array([getattr(one, field.name, None) for one in cells], field.type)
            for field in self.schema
        ]

    def list_names(
        self, numbers: Sequence[int], cells: Sequence[DocumentCells | str | None]
    ) -> Mapping[str, pa.RecordBatch]:
        """Return the row of each file, for the private folder."""
        if not self.names:
            return {}
        rows = zip(numbers, cells, strict=True)
        found = [(int(number), one.file) for number, one in rows if isinstance(one, DocumentCells)]
        arrays = [pa.array([one[x] for one in found], kind) for x, kind in enumerate(NAMED.types)]
        return {FILES: pa.RecordBatch.from_arrays(arrays, schema=NAMED)}


def schema_of(kind: str) -> pa.Schema:
    """Return the columns of a folder; the text of a Word file is its bytes."""
    text = pa.binary() if kind == WORD else pa.string()
    spans = [(SPANS, pa.string())] if kind == BRAT else []
    return pa.schema([(FILE, pa.string()), (TEXT, text), *spans])


def _type(one: PublishedDocument, edit: Any) -> str:
    """Return the type in a mark, in its published form."""
    return one.text[edit.start : edit.end].strip("[]")


def _tells(name: str, source: Document, one: PublishedDocument) -> bool:
    removed = (source.text[e.source_start : e.source_end].casefold() for e in one.edits)
    words = (word for text in removed for word in re.findall(r"[^\W_]+", text))
    return any(len(word) >= LEAST and word in name.casefold() for word in words)


def _rewritten(
    path: str | os.PathLike[str] | None, source: Document, one: PublishedDocument
) -> bytes:
    if path is None or not os.fspath(path).lower().endswith(".docx"):
        raise SourceError(NO_WORD)
    changes = [
        TextChange(e.source_start, e.source_end, one.text[e.start : e.end]) for e in one.edits
    ]
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})") from None
    return rewrite(raw, Path(path).name, source.text, changes)
