"""One file of documents: its text, its lines, its documents."""

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
    name: str  # what its document is called, where it holds one
    # whether it is one of several files, so that the name distinguishes their documents
    several: bool = False
    encoding: str | None = None  # of its text; without one UTF-8, or what a byte order mark says
    subject: str | None = None  # the field or column that says whom a document is about

    def text(self) -> str:
        """Return the whole text, of 64 MiB at most: line ends stay, a byte order mark does not."""
        return self._whole(utf8_chunks(self.path, self._encoding())).decode()

    def content(self, most: int = LINE_BYTES) -> bytes:
        """Return the bytes, decompressed; `most` of them, or it is refused."""
        return bytes(self._whole(raw_chunks(self.path), most))

    def in_encoding(self, said: str) -> TextFile:
        """Return the same file in an encoding that it says itself, where there is such a one."""
        try:
            return replace(self, encoding=known_encoding(said))
        except RequestError:
            return self

    def has_mark(self) -> bool:
        """Return whether it begins with UTF-8's byte order mark, which is not in its text."""
        return next(raw_chunks(self.path), b"").startswith(BOM_UTF8)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Stream the lines in UTF-8, with their ends and numbers."""
        return numbered_lines(self.path, self._encoding())

    def head(self) -> str:
        """Return the beginning, as far as it is text: enough to distinguish formats."""
        encoding = self._encoding()
        return next(raw_chunks(self.path), b"")[: 1 << 16].decode(encoding, errors="ignore")

    def make_id(self, own: object) -> str:
        """Return the id of a document that this file calls its own so."""
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
    """Turn an error of the system into one sentence."""
    try:
        yield
    except OSError as error:
        raise SourceError(f"cannot be read ({error.strerror})", where=path.name) from None


def check_file(path: Path, root: Path | None) -> None:
    """Refuse a path that is no file, such as a pipe, and a link that leads out of `root`."""
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
    """Give a name's last suffix before .gz, in small letters."""
    return Path(_COMPRESSED.sub("", path.name)).suffix.lower()


def stem(path: Path) -> str:
    """Give a path without its last suffix and .gz: "ward/110-01" of ward/110-01.xml.gz."""
    return Path(_COMPRESSED.sub("", str(path))).with_suffix("").as_posix()
