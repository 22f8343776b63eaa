"""Read documents of all text formats. Each family of formats has a module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

from voile.core.errors import RequestError, SourceError, nearest
from voile.core.warn import warn
from voile.data.content_kinds import SUFFIXES
from voile.documents.text.document import Document
from voile.documents.text.formats import file as files
from voile.documents.text.formats.brat import find_beside
from voile.documents.text.formats.recognition import format_of, recognise
from voile.documents.text.formats.registry import SINGLE_FORMATS, TextFormat
from voile.documents.text.formats.subjects import SubjectPattern

__all__ = ["FORMATS", "TextFormat", "read_documents"]


_MORE = (".docm", ".dotx", ".odt", ".rtf", ".msg", ".ann", ".bak", ".tmp", ".log")


def read_each(file: files.TextFile) -> Iterator[Document | files.UnreadPart]:
    """Read a file by its own format. Refuse a file without documents, and name only its kind."""
    if files.suffix(file.path) == ".ann" and find_beside(file.path, ".txt") is not None:
        return  # this file is read together with its text
    format = format_of(file.path, file.encoding)
    if format is None or format == "table":
        what = "tables are not documents" if format else "not read"
        raise SourceError(f"{_file_kind(file.path)}: {what}", where=file.path.name)
    yield from SINGLE_FORMATS[format].read(file)


def _file_kind(path: Path) -> str:
    """Return the suffix of a file name if it is a common one.

    Other suffixes may contain people's names.

    >>> _file_kind(Path("scan.JPG")), _file_kind(Path("letter to.annmay"))
    ('.jpg files', 'files of an unknown kind')
    """
    end = files.suffix(path)
    return f"{end} files" if end in SUFFIXES or end in _MORE else "files of an unknown kind"


FORMATS: Mapping[str, TextFormat] = {
    **SINGLE_FORMATS,
    "files": TextFormat(read_each, "files of any of these formats", (), single=True),
}
"""The formats by name."""
Aside = Callable[[str, RequestError], None]


def read_documents(
    path: str | PathLike[str],
    format: str | None = None,
    *,
    encoding: str | None = None,
    subject: str | None = None,
    pattern: SubjectPattern | None = None,
    aside: Aside | None = None,
) -> Iterator[Document]:
    """Stream the documents that `Corpus.read` reads. Memory: one document or one file.

    In a format with one document for each file, `aside` receives the name of each unreadable file
    and the reason. The other files are still read. `aside` also receives each part of a file that
    is not read. Without `aside`, and in the other formats, the first error ends the reading, and a
    warning lists such parts. With `aside`, links that lead out of a folder are not followed.

    pattern : the pattern of file names that contains the subject of each document.
    """
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
    for file in named_files(Path(path), known, encoding, subject):
        whose = None if pattern is None else pattern.subject_of(file.path, Path(path))
        try:
            with files.report_unreadable(file.path):
                files.check_file(file.path, None if aside is None else Path(path))
                for one in known.read(file):
                    if isinstance(one, files.UnreadPart):
                        (aside or _warn)(one.name, SourceError(one.why, where=file.path.name))
                    else:
                        yield one if whose is None else replace(one, subject=whose)
        except RequestError as error:
            if aside is None or not known.single:
                raise
            aside(file.name, error)


def _warn(name: str, why: RequestError) -> None:
    warn(f"{why}; left out", files.UnreadWarning)


def named_files(
    path: Path, known: TextFormat, encoding: str | None = None, subject: str | None = None
) -> Iterator[files.TextFile]:
    """Yield the files of a format, each with the name of its document."""
    found = format_files(path, known)
    if not found:
        ends = " or ".join(known.suffixes)
        raise RequestError(f"holds no {ends or 'file of this format'}", where=str(path))
    folder = path.is_dir()
    for one in found:
        relative = one.relative_to(path) if folder else Path(one.name)
        name = files.stem(relative) if known.suffixes else relative.as_posix()
        yield files.TextFile(one, name, len(found) > 1, encoding, subject)


def format_files(path: Path, known: TextFormat) -> list[Path]:
    """Return the files that a format reads: by their suffix in a folder, else all of a pattern."""
    from voile.documents.text.formats.recognition import list_files

    every = not path.is_dir() or not known.suffixes
    return [one for one in list_files(path) if every or files.suffix(one) in known.suffixes]
