"""A file of documents: its text, its lines, and its documents."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from voile.core.errors import RequestError, SourceError
from voile.data.formats.jsonlines import LINE_BYTES, numbered_lines
from voile.data.text import known_encoding, marked_encoding, raw_chunks, utf8_chunks
from voile.documents.text.document import Document, Span


class UnreadWarning(UserWarning):
    """Some documents cannot be read and are rejected. Check the files that are named."""


@dataclass(frozen=True)
class UnreadPart:
    """A part of a file that is not read: its name, for the data holder, and the reason."""

    name: str
    why: str


_COMPRESSED = re.compile(r"\.gz$", re.IGNORECASE)


@dataclass(frozen=True)
class TextFile:
    path: Path
    name: str  # the name of its document, if it contains one document
    # whether it is one of several files, which need the name to distinguish their documents
    several: bool = False
    # of its text; by default UTF-8, or the encoding of a byte order mark
    encoding: str | None = None
    subject: str | None = None  # the field or column with a document's subject

    def text(self) -> str:
        """Return the whole text, 64 MiB at most, without a byte order mark.

        Line ends are unchanged.
        """
        return self._whole(utf8_chunks(self.path, self._encoding())).decode()

    def content(self, most: int = LINE_BYTES) -> bytes:
        """Return the decompressed bytes. A file of more than `most` bytes is refused."""
        return bytes(self._whole(raw_chunks(self.path), most))

    def in_encoding(self, said: str) -> TextFile:
        """Return the same file in an encoding that it declares, if that encoding exists."""
        try:
            return replace(self, encoding=known_encoding(said))
        except RequestError:
            return self

    def has_mark(self) -> bool:
        """Return whether the file begins with the UTF-8 byte order mark, which its text omits."""
        return next(raw_chunks(self.path), b"").startswith(BOM_UTF8)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Stream the number and the UTF-8 bytes of each line, including its line end."""
        return numbered_lines(self.path, self._encoding())

    def head(self) -> str:
        """Return the decodable beginning of the text, which is enough to distinguish formats."""
        encoding = self._encoding()
        return next(raw_chunks(self.path), b"")[: 1 << 16].decode(encoding, errors="ignore")

    def make_id(self, own: object) -> str:
        """Return the id of a document with the number or name `own` in this file."""
        return f"{self.name} {own}" if self.several else str(own)

    def document(
        self,
        text: str,
        spans: Sequence[Span] = (),
        *,
        id: str,
        subject: str | None = None,
        pos: Sequence[tuple[int, int, str]] = (),
        annotated: bool = True,
    ) -> Document:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SourceError(
                f"character {error.start} is an unpaired surrogate", where=f"document {id}"
            ) from None
        return Document(text, tuple(spans), id, subject, tuple(pos), annotated)

    def _whole(self, chunks: Iterator[bytes], most: int = LINE_BYTES) -> bytearray:
        whole = bytearray()
        for chunk in chunks:
            whole += chunk
            if len(whole) > most:
                raise SourceError(
                    f"is longer than {most >> 20} MiB",
                    where=self.path.name,
                    instead="give each document a file or a line of its own",
                )
        return whole

    def _encoding(self) -> str:
        return marked_encoding(self.path) or known_encoding(self.encoding or "utf-8")


@contextmanager
def report_unreadable(path: Path) -> Iterator[None]:
    """Convert an operating system error to a SourceError of one sentence."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})", where=path.name) from None


def check_file(path: Path, root: Path | None) -> None:
    """Refuse a path that is not a file, such as a pipe, and a link that leads out of `root`."""
    if root and path.is_symlink() and root.is_dir() and not _is_below(path, root):
        raise SourceError(
            "links that lead out of the folder are not read",
            where=path.name,
            instead="copy the file into it, or name it by a pattern",
        )
    if not path.is_file() and path.exists():
        raise SourceError("is not a file", where=path.name)


def _is_below(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def suffix(path: Path) -> str:
    """Return the last suffix of a name before .gz, in lower case."""
    return Path(_COMPRESSED.sub("", path.name)).suffix.lower()


def stem(path: Path) -> str:
    """Return a path without its last suffix and .gz: "ward/110-01" for ward/110-01.xml.gz."""
    return Path(_COMPRESSED.sub("", str(path))).with_suffix("").as_posix()
