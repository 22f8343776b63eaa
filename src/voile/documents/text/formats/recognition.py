"""Recognise the format of a file from its suffix and its beginning."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from voile.core.errors import RequestError, SourceError
from voile.data.opening import FORMATS as TABLES
from voile.data.postgres.address import DatabaseAddress
from voile.documents.text.formats.brat import find_beside
from voile.documents.text.formats.conll import BOUNDARY, TOKEN
from voile.documents.text.formats.fhir import is_fhir
from voile.documents.text.formats.file import TextFile, report_unreadable, suffix
from voile.documents.text.formats.json import read_objects
from voile.documents.text.formats.registry import SINGLE_FORMATS
from voile.documents.text.formats.tags import HARMLESS, TAG

BY_NAME = {
    ".docx": "docx", ".pdf": "pdf", ".conll": "conll", ".bio": "conll", ".iob": "conll",
    ".eml": "eml", ".html": "html", ".htm": "html", ".xhtml": "html",
}  # fmt: skip
JSON = (".jsonl", ".ndjson", ".json")
LINES = 50
SAY = "say its format"


def recognise(
    thing: str | PathLike[str], encoding: str | None = None, *, mixed: bool = False
) -> str:
    """Return the format of a file, of all files in a folder, or of the files of a pattern.

    mixed : whether a folder of several formats is "files", if all known formats are unannotated
        text.
    """
    if "::" in os.fspath(thing) or DatabaseAddress.parse(thing) is not None:
        return "table"
    path = Path(thing)
    files = [one for one in list_files(path) if not (path.is_dir() and suffix(one) == ".conf")]
    found: dict[Path, str | None] = {}
    wrong: list[RequestError] = []
    for one in files:
        try:
            found[one] = format_of(one, encoding) if one.is_file() else None
        except RequestError as error:
            found[one] = None
            wrong.append(error)
    formats = sorted({format for format in found.values() if format is not None})
    if mixed and path.is_dir() and len({*found.values()}) > 1 and _are_plain(formats):
        return "files"
    if wrong:
        raise wrong[0]
    if len(formats) > 1:
        raise RequestError(
            f"has files of several formats: {', '.join(formats)}",
            where=str(path),
            instead="say which to read",
        )
    for one, format in found.items():
        if format is None and one.is_file():
            end = suffix(one) or "its"
            raise RequestError(f"{end} files are not known", where=one.name, instead=SAY)
    if not formats:
        raise RequestError("holds no files", where=str(path))
    return formats[0]


def _are_plain(formats: list[str]) -> bool:
    """Return whether at least one format is read here, and all such formats are unannotated."""
    read = [format for format in formats if format != "table"]
    return bool(read) and all(SINGLE_FORMATS[format].plain for format in read)


def list_files(path: Path) -> Iterator[Path]:
    """Yield the files of a folder and its subfolders, of a pattern, or the single file, by name.

    Paths that are not files are also yielded, such as a broken link or a link to a folder.
    """
    if path.is_dir():
        for one in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in one.relative_to(path).parts)
            if not hidden and (not one.is_dir() or one.is_symlink()):
                yield one
    elif path.exists():
        yield path
    elif glob.has_magic(str(path)) and (found := sorted(glob.glob(str(path), recursive=True))):
        yield from map(Path, found)
    else:
        names = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        # no list: file names can contain people's names
        close = get_close_matches(path.name, names, n=3)
        near = f"did you mean {' or '.join(close)}?" if close else "no name there is like it"
        there = near if path.parent.is_dir() else f"there is no folder {path.parent}"
        raise RequestError("there is no such file or folder", where=str(path), instead=there)


def format_of(path: Path, encoding: str | None) -> str | None:
    """Return the format of a file from its name and beginning; None if the suffix is unknown.

    Raises
    ------
    RequestError : the beginning has no known format.
    """
    end = suffix(path)
    if end in BY_NAME:
        return BY_NAME[end]
    if end == ".ann" or (end == ".txt" and find_beside(path, ".ann")):
        if find_beside(path, ".txt") is None:
            raise SourceError("has no .txt file next to it", where=path.name)
        return "brat"
    if end in _BY_CONTENT:
        with report_unreadable(path):
            return _BY_CONTENT[end](TextFile(path, path.name, encoding=encoding))
    return "table" if end in TABLES else None


def is_fhir_lines(path: Path) -> bool:
    """Return whether JSON lines, which are a table by their name, are FHIR resources."""
    if suffix(path) not in (".jsonl", ".ndjson") or not path.is_file():
        return False
    try:
        return _json(TextFile(path, path.name)) == "fhir"
    except (RequestError, OSError):
        return False


def _json(file: TextFile) -> str:
    _, first = next(read_objects(file), (0, {}))
    if is_fhir(first):
        return "fhir"
    if "full_text" in first:
        return "presidio"
    if any(isinstance(first.get(key), list) for key in ("label", "labels", "entities")):
        return "doccano"
    if "text" in first:
        return "jsonl"
    raise RequestError("its first object has no text", where=file.path.name, instead=SAY)


def _xml(file: TextFile) -> str:
    head = file.head()
    for mark, format in (("<RECORD", "i2b2-2006"), ("<TEXT", "i2b2-2014")):
        if mark in head:
            return format
    raise RequestError(
        "is not XML of i2b2", where=file.path.name, instead="turn it into JSON lines"
    )


def _lines(file: TextFile) -> str:
    """Distinguish CoNLL columns from other lines.

    In columns, every line ends with a tag, and at least one tag has a type.
    """
    lines = file.head().splitlines()
    if lines and {*lines[0].split("\t")[:-1]} & {*TOKEN}:
        return "conll-header"
    rows = [line.split() for line in lines[:LINES] if line.strip()]
    tagged = [row for row in rows if row[0] != BOUNDARY]
    tags = [row[-1] for row in tagged if len(row) > 1]
    typed = sum(TAG.fullmatch(tag) is not None for tag in tags)
    harmless = sum(tag in HARMLESS for tag in tags)
    typed_or_marked = typed or len(tagged) < len(rows)
    if typed_or_marked and typed + harmless == len(tagged):
        return "conll"
    return "txt" if suffix(file.path) == ".txt" else "table"


_BY_CONTENT = {**dict.fromkeys(JSON, _json), ".xml": _xml, ".txt": _lines, ".tsv": _lines}
